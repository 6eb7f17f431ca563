import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { startScripted, THINGS } from '#test/support/scripted-client.ts';
import { type Script, type ScriptedRequest, statusBody } from '#test/support/scripted-server.ts';
import { Reflector, type ReflectorOptions, type Trouble } from './reflector.ts';

const thing = (name: string, resourceVersion: number, uid = name) => ({
  metadata: { name, uid, resourceVersion: String(resourceVersion) },
});
const listOf = (resourceVersion: number, ...items: object[]) => ({
  kind: 'ThingList',
  metadata: { resourceVersion: String(resourceVersion) },
  items,
});
const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

/** Opens a watch and writes these lines; it stays open unless the script ends it. */
function beginWatch({ stream }: ScriptedRequest, ...lines: string[]): void {
  stream.respond({ ':status': 200 });
  stream.write(lines.join(''));
}

async function start(script: Script, options: Partial<ReflectorOptions> = {}) {
  const pair = await startScripted(script);
  const { server, client } = pair;
  const events: string[] = [];
  const troubles: Trouble[] = [];
  const reflector = new Reflector(client, {
    resource: THINGS,
    backoff: { firstMs: 20, mostMs: 100 },
    onEvent: (it) => {
      const subject = it.type === 'Synced' ? '' : it.type === 'Deleted' ? it.identity.name : it.object.metadata.name;
      events.push(`${it.type} ${subject}`.trim());
    },
    onTrouble: (trouble) => void troubles.push(trouble),
    ...options,
  });
  const stop = async () => {
    await reflector[Symbol.asyncDispose]();
    await pair[Symbol.asyncDispose]();
  };
  const watches = () => server.requests.filter(({ query }) => query.has('watch'));
  const lists = () => server.requests.filter((request) => !isWatch(request) && !isComparison(request));
  return { server, reflector, events, troubles, watches, lists, [Symbol.asyncDispose]: stop };
}

const isWatch = ({ query }: ScriptedRequest) => query.has('watch');
/** After a break: which revision does the store have? */
const isComparison = ({ query }: ScriptedRequest) => query.get('limit') === '1';

test('a list, then what happens', async () => {
  await using made = await start((request) => {
    if (!isWatch(request)) return request.answer(200, listOf(5, thing('a', 3), thing('b', 4)));
    beginWatch(
      request,
      event('ADDED', thing('c', 6)),
      event('MODIFIED', thing('a', 7)),
      event('DELETED', thing('b', 8)),
      event('DELETED', thing('c', 9)) + event('ADDED', thing('c', 10, 'c2')),
    );
  });
  await made.reflector.synced;
  expect(made.events).toEqual(['Added a', 'Added b', 'Synced']);
  await vi.waitFor(() => expect(made.events.at(-1)).toBe('Added c'), 20_000);
  expect(made.events.slice(3)).toEqual(['Added c', 'Modified a', 'Deleted b', 'Deleted c', 'Added c']);
  expect(made.troubles).toEqual([]);
});

test('a list is trimmed, the watch tells of whole objects', async () => {
  const seen: unknown[] = [];
  await using made = await start(
    (request) => {
      if (!isWatch(request)) return request.answer(200, listOf(5, { ...thing('a', 3), spec: { big: 1 } }));
      beginWatch(request, event('ADDED', { ...thing('b', 6), spec: { big: 2 } }));
    },
    {
      trim: ({ metadata }) => ({ metadata }),
      onEvent: (it) => void (it.type === 'Added' && seen.push(it.object['spec'])),
    },
  );
  await vi.waitFor(() => expect(seen).toEqual([undefined, { big: 2 }]), 20_000);
  expect(made.troubles).toEqual([]);
});

test('selectors and the metadata form go with the list and the watch', async () => {
  const query = { namespace: 'n', labelSelector: 'x=y', fieldSelector: 'spec.nodeName=n1' };
  await using made = await start(
    (request) => (isWatch(request) ? beginWatch(request) : request.answer(200, listOf(5))),
    { query, form: 'metadata', watchSeconds: 100 },
  );
  await vi.waitFor(() => expect(made.watches()).toHaveLength(1), 20_000);
  const [list, watch] = made.server.requests;
  expect(Object.fromEntries(list?.query ?? [])).toEqual({
    labelSelector: 'x=y',
    fieldSelector: 'spec.nodeName=n1',
    limit: '100',
  });
  expect(list?.headers['accept']).toContain('as=PartialObjectMetadataList');
  expect(watch?.headers['accept']).toContain('as=PartialObjectMetadata;');
  expect(watch?.path).toBe('/apis/test.io/v1/namespaces/n/things');
  const { timeoutSeconds, ...rest } = Object.fromEntries(watch?.query ?? []);
  expect(rest).toEqual({
    labelSelector: 'x=y',
    fieldSelector: 'spec.nodeName=n1',
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: '5',
  });
  expect(Number(timeoutSeconds)).toBeGreaterThanOrEqual(100);
  expect(Number(timeoutSeconds)).toBeLessThanOrEqual(200);
});

describe('the next watch goes on where the last one ended', () => {
  const BOOKMARK = event('BOOKMARK', { metadata: { resourceVersion: '20' } });

  test.each<{ name: string; end: (request: ScriptedRequest) => void; lines: string[]; from: string }>([
    {
      name: 'after the server ended it',
      end: ({ stream }) => stream.end(),
      lines: [event('ADDED', thing('a', 12))],
      from: '12',
    },
    {
      name: 'after a bookmark',
      end: ({ stream }) => stream.end(),
      lines: [event('ADDED', thing('a', 12)), BOOKMARK],
      from: '20',
    },
    { name: 'after the connection was cut', end: ({ session }) => session?.destroy(), lines: [BOOKMARK], from: '20' },
    {
      name: 'after the stream was reset',
      end: ({ stream }) => stream.destroy(new Error('x')),
      lines: [BOOKMARK],
      from: '20',
    },
    {
      name: 'after half a line',
      end: ({ session }) => session?.destroy(),
      lines: [BOOKMARK, event('ADDED', thing('b', 21)).slice(0, 20)],
      from: '20',
    },
    {
      name: 'after an error event',
      end: () => {},
      lines: [BOOKMARK, event('ERROR', statusBody(500, 'InternalError'))],
      from: '20',
    },
  ])('$name', async ({ end, lines, from }) => {
    await using made = await start((request) => {
      if (isComparison(request)) return request.answer(200, listOf(25));
      if (!isWatch(request)) return request.answer(200, listOf(5));
      if (made.watches().length > 1) return beginWatch(request);
      beginWatch(request, ...lines);
      setTimeout(() => end(request), 50);
    });
    await vi.waitFor(() => expect(made.watches()).toHaveLength(2), 20_000);
    expect(made.watches()[1]?.query.get('resourceVersion')).toBe(from);
    expect(made.lists()).toHaveLength(1);
  });
});

test('after a break and a restore from a backup it lists anew, and says so before it tells what there is', async () => {
  const told: string[] = [];
  let isRestored = false;
  await using made = await start(
    (request) => {
      if (isComparison(request)) return request.answer(200, listOf(isRestored ? 7 : 20, thing('a', 3)));
      if (!isWatch(request)) return request.answer(200, isRestored ? listOf(7, thing('a', 3)) : listOf(5));
      if (isRestored) return beginWatch(request);
      beginWatch(request, event('ADDED', thing('a', 12)), event('ADDED', thing('b', 20)));
      setTimeout(() => {
        isRestored = true;
        request.session?.destroy();
      }, 50);
    },
    {
      onRestored: () => void told.push('restored'),
      onEvent: (it) => void told.push(it.type),
    },
  );
  await vi.waitFor(() => expect(made.watches()).toHaveLength(2), 20_000);
  expect(told).toEqual(['Synced', 'Added', 'Added', 'restored', 'Modified', 'Deleted', 'Synced']);
  expect(made.watches()[1]?.query.get('resourceVersion')).toBe('7');
});

test.each([
  { name: 'a watch that the stopping server ended in order', end: 'end', listed: 7 },
  { name: 'a watch that is too old, in a store that has caught up', end: 'expired', listed: 30 },
])('after $name a restore is noticed', async ({ end, listed }) => {
  const told: string[] = [];
  let isRestored = false;
  await using made = await start(
    (request) => {
      if (isComparison(request)) return request.answer(200, listOf(listed, thing('a', 3)));
      if (!isWatch(request)) return request.answer(200, isRestored ? listOf(listed, thing('a', 3)) : listOf(5));
      if (isRestored) return beginWatch(request);
      beginWatch(request, event('ADDED', thing('a', 12)), event('ADDED', thing('b', 20)));
      setTimeout(() => {
        isRestored = true;
        if (end === 'end') request.stream.end();
        else request.stream.write(event('ERROR', statusBody(410, 'Expired')));
      }, 50);
    },
    { onRestored: () => void told.push('restored'), onEvent: (it) => void told.push(it.type) },
  );
  await vi.waitFor(() => expect(made.watches()).toHaveLength(2), 20_000);
  expect(told).toEqual(['Synced', 'Added', 'Added', 'restored', 'Modified', 'Deleted', 'Synced']);
});

test('a store that was restored with a revision bump is restored too, and a new list says so first', async () => {
  const told: string[] = [];
  let isRestored = false;
  await using made = await start(
    (request) => {
      const bumped = listOf(1_000_000_007, thing('a', 1_000_000_003));
      if (isComparison(request)) return request.answer(200, bumped);
      if (!isWatch(request)) return request.answer(200, isRestored ? bumped : listOf(5, thing('b', 4)));
      if (isRestored) return beginWatch(request);
      beginWatch(request);
      setTimeout(() => {
        isRestored = true;
        request.session?.destroy();
      }, 50);
    },
    {
      onRestored: () => void told.push('restored'),
      onEvent: (it) => void told.push(it.type),
    },
  );
  await vi.waitFor(() => expect(made.watches()).toHaveLength(2), 20_000);
  expect(told).toEqual(['Added', 'Synced', 'restored', 'Added', 'Deleted', 'Synced']);
});

test.each([
  { name: 'a watch that was cut', script: ['cut'] },
  { name: 'a watch that is too old', script: ['expired'] },
  { name: 'a list that fails after that', script: ['expired', 'list fails'] },
])('after $name it says once that the server answers again', async ({ script }) => {
  const told: string[] = [];
  const left = [...script];
  await using made = await start(
    (request) => {
      if (isComparison(request)) return request.answer(200, listOf(25));
      if (!isWatch(request)) {
        if (told.includes('Synced') && left[0] === 'list fails') {
          left.shift();
          return request.answer(500, statusBody(500, 'InternalError'));
        }
        return request.answer(200, listOf(5));
      }
      const end = left[0] === 'list fails' ? undefined : left.shift();
      if (end === 'expired') return request.answer(410, statusBody(410, 'Expired'));
      beginWatch(request);
      if (end === 'cut') setTimeout(() => request.session?.destroy(), 50);
    },
    {
      onReconnected: () => void told.push('reconnected'),
      onEvent: (it) => void told.push(it.type),
    },
  );
  await vi.waitFor(() => expect(made.watches()).toHaveLength(2), 20_000);
  await vi.waitFor(() => expect(told.filter((it) => it === 'reconnected')).toHaveLength(1), 20_000);
});

describe('a new list', () => {
  test.each<{ name: string; refuse: (request: ScriptedRequest) => void }>([
    { name: 'when the watch is refused with 410', refuse: ({ answer }) => answer(410, statusBody(410, 'Expired')) },
    {
      name: 'when the watch is told 410',
      refuse: (request) => beginWatch(request, event('ERROR', statusBody(410, 'Expired'))),
    },
    {
      name: 'when the server was set back',
      refuse: ({ answer }) =>
        answer(504, statusBody(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] })),
    },
  ])('$name, and only the differences are told', async ({ refuse }) => {
    await using made = await start((request) => {
      if (isWatch(request)) return made.watches().length === 1 ? refuse(request) : beginWatch(request);
      const isFirst = made.lists().length === 1;
      request.answer(
        200,
        isFirst
          ? listOf(5, thing('same', 1), thing('gone', 2), thing('changed', 3), thing('replaced', 4, 'r1'))
          : listOf(9, thing('same', 1), thing('changed', 7), thing('replaced', 8, 'r2'), thing('new', 9)),
      );
    });
    await vi.waitFor(() => expect(made.watches()).toHaveLength(2), 20_000);
    expect(made.events.slice(5)).toEqual([
      'Modified changed',
      'Deleted replaced',
      'Added replaced',
      'Added new',
      'Deleted gone',
      'Synced',
    ]);
    expect(made.watches()[1]?.query.get('resourceVersion')).toBe('9');
  });

  test('when a watch keeps failing at the same place', async () => {
    const tooLong = event('ADDED', { ...thing('big', 6), spec: 'x'.repeat(5_000) });
    await using made = await start(
      (request) => (isWatch(request) ? beginWatch(request, tooLong) : request.answer(200, listOf(5))),
      { maxLineBytes: 4_000 },
    );
    await vi.waitFor(() => expect(made.lists()).toHaveLength(2), 20_000);
    const kinds = made.server.requests.map((request) => (isWatch(request) ? 'watch' : 'list'));
    expect(kinds.slice(0, 5)).toEqual(['list', 'watch', 'watch', 'watch', 'list']);
    expect(made.troubles[0]).toMatchObject({ during: 'watch', failure: { because: 'BadAnswer' } });
  });
});

describe('a list in pages', () => {
  const inPages = (request: ScriptedRequest, resourceVersion: number, pages: readonly object[][]) => {
    const at = Number(request.query.get('continue') ?? 0);
    const { metadata, ...list } = listOf(resourceVersion, ...(pages[at] ?? []));
    const more = at + 1 < pages.length ? { continue: String(at + 1) } : {};
    request.answer(200, { ...list, metadata: { ...metadata, ...more } });
  };

  test('each page is told before the next one is asked for', async () => {
    const toldAt: string[][] = [];
    await using made = await start((request) => {
      if (isWatch(request)) return beginWatch(request);
      toldAt.push([...made.events]);
      inPages(request, 5, [[thing('a', 1)], [thing('b', 2)], [thing('c', 3)]]);
    });
    await made.reflector.synced;
    expect(toldAt).toEqual([[], ['Added a'], ['Added a', 'Added b']]);
    expect(made.events).toEqual(['Added a', 'Added b', 'Added c', 'Synced']);
  });

  test('one that breaks off takes nothing away, and the restore is told once', async () => {
    const told: string[] = [];
    let lists = 0;
    await using made = await start(
      (request) => {
        if (isWatch(request)) {
          return lists < 2 ? request.answer(410, statusBody(410, 'Expired')) : beginWatch(request);
        }
        if (!request.query.has('continue')) lists += 1;
        if (lists === 1) return inPages(request, 50, [[thing('a', 41)], [thing('b', 42)]]);
        if (lists === 2 && request.query.has('continue')) {
          return request.answer(500, statusBody(500, 'InternalError'));
        }
        inPages(request, 9, [[thing('a', 1)], [thing('c', 3)]]);
      },
      {
        onRestored: () => void told.push('restored'),
        onEvent: (it) => void told.push(it.type === 'Added' ? `Added ${it.object.metadata.name}` : it.type),
      },
    );
    await vi.waitFor(() => expect(told.filter((it) => it === 'Synced')).toHaveLength(2), 20_000);
    expect(told.slice(3)).toEqual(['restored', 'Modified', 'Added c', 'Deleted', 'Synced']);
    expect(made.troubles).toMatchObject([{ during: 'watch' }, { during: 'list' }]);
  });

  test('an object that is too large for any page is told of, and not read again and again', async () => {
    const big = { ...thing('big', 2), spec: 'x'.repeat(5_000) };
    const pair = await startScripted((request) => request.answer(200, listOf(5, big)), { maxPageBytes: 4_000 });
    const troubles: Trouble[] = [];
    const reflector = new Reflector(pair.client, {
      resource: THINGS,
      backoff: { firstMs: 10, mostMs: 20 },
      onEvent: () => {},
      onTrouble: (trouble) => void troubles.push(trouble),
    });
    await wait(500);
    await reflector[Symbol.asyncDispose]();
    const limits = pair.server.requests.map(({ query }) => query.get('limit'));
    await pair[Symbol.asyncDispose]();
    expect(limits).toEqual(['100', '25', '6', '1']);
    expect(troubles).toMatchObject([{ during: 'list', failure: { because: 'TooLarge' } }]);
    expect(troubles[0]).toHaveProperty('retryInMs', expect.closeTo(60_000, -3));
  });
});

describe('trouble', () => {
  test.each([
    { name: 'RBAC', status: 403, body: statusBody(403, 'Forbidden'), because: 'Forbidden' },
    { name: 'a kind that is not served', status: 404, body: '404 page not found', because: 'NotServed' },
    { name: 'a fault', status: 500, body: statusBody(500, 'InternalError'), because: 'ServerError' },
  ])(
    '$name at the list: told, retried with growing pauses, and then all is well',
    async ({ status, body, because }) => {
      let isBroken = true;
      await using made = await start(
        (request) => {
          if (isBroken) return request.answer(status, body);
          return isWatch(request) ? beginWatch(request) : request.answer(200, listOf(5, thing('a', 1)));
        },
        { backoff: { firstMs: 50, mostMs: 200 } },
      );
      const beganMs = performance.now();
      await vi.waitFor(() => expect(made.server.requests.length).toBeGreaterThanOrEqual(4), 20_000);
      await wait(300);
      // The shortest pauses are half of 50, 100, 200, 200 … ms; a request or two may be under way.
      expect(made.server.requests.length).toBeLessThanOrEqual(4 + (performance.now() - beganMs) / 100);
      expect(made.troubles[0]).toMatchObject({ during: 'list', failure: { because, message: expect.any(String) } });
      expect(made.events).toEqual([]);
      isBroken = false;
      await made.reflector.synced;
      expect(made.events).toEqual(['Added a', 'Synced']);
    },
  );

  test('RBAC at the watch: what is known stays known', async () => {
    await using made = await start(
      (request) =>
        isWatch(request)
          ? request.answer(403, statusBody(403, 'Forbidden'))
          : request.answer(200, listOf(5, thing('a', 1))),
      { backoff: { firstMs: 50, mostMs: 200 } },
    );
    await wait(500);
    expect(made.events).toEqual(['Added a', 'Synced']);
    expect(made.lists()).toHaveLength(1);
    expect(made.watches().length).toBeLessThanOrEqual(8);
  });

  test.each<{ name: string; line: (turn: number) => string }>([
    { name: 'at once', line: () => '' },
    {
      name: 'after a bookmark',
      line: (turn) => event('BOOKMARK', { metadata: { resourceVersion: String(5 + turn) } }),
    },
    { name: 'after an event', line: (turn) => event('MODIFIED', thing('a', 5 + turn)) },
  ])('a server that ends every watch $name is not asked in a loop', async ({ line }) => {
    await using made = await start(
      (request) =>
        isWatch(request) ? request.answer(200, line(made.watches().length)) : request.answer(200, listOf(5)),
      { backoff: { firstMs: 50, mostMs: 200 } },
    );
    await wait(600);
    expect(made.watches().length).toBeLessThanOrEqual(8);
    expect(made.troubles.length).toBeGreaterThan(0);
  });

  test('the pause a server asks for is kept', async () => {
    const at: number[] = [];
    await using made = await start((request) => {
      if (!isWatch(request)) return request.answer(200, listOf(5));
      at.push(performance.now());
      if (at.length === 1) request.answer(429, '', { 'retry-after': '1' });
      else beginWatch(request);
    });
    await vi.waitFor(() => expect(at).toHaveLength(2), 3_000);
    const [first = 0, second = 0] = at;
    expect(second - first).toBeGreaterThanOrEqual(1_000);
    expect(made.troubles).toMatchObject([{ failure: { because: 'TooManyRequests' } }]);
  });
});

describe('handlers that throw', () => {
  const broken = new Error('the handler is broken');

  test('at an event: told, and what follows is handed over', async () => {
    const seen: string[] = [];
    await using made = await start(
      (request) =>
        isWatch(request)
          ? beginWatch(request, event('MODIFIED', thing('a', 6)), event('ADDED', thing('b', 7)))
          : request.answer(200, listOf(5, thing('a', 1))),
      {
        onEvent: (it) => {
          seen.push(it.type);
          if (it.type !== 'Synced') throw broken;
        },
      },
    );
    await made.reflector.synced;
    await vi.waitFor(() => expect(seen).toEqual(['Added', 'Synced', 'Modified', 'Added']), 20_000);
    expect(made.troubles).toMatchObject([
      { during: 'event', event: { type: 'Added' }, thrown: broken },
      { during: 'event', event: { type: 'Modified' }, thrown: broken },
      { during: 'event', event: { type: 'Added' }, thrown: broken },
    ]);
    expect(made.watches()).toHaveLength(1);
  });

  test('at trouble: the reflector goes on', async () => {
    await using made = await start(
      (request) => {
        if (made.server.requests.length <= 2) return request.answer(500, '');
        return isWatch(request) ? beginWatch(request) : request.answer(200, listOf(5));
      },
      {
        onTrouble: () => {
          throw broken;
        },
      },
    );
    await made.reflector.synced;
    expect(made.events).toEqual(['Synced']);
  });
});

test('a long silence is nothing: no new watch, no trouble', async () => {
  await using made = await start((request) =>
    isWatch(request) ? beginWatch(request) : request.answer(200, listOf(5)),
  );
  await wait(2_000);
  expect(made.watches()).toHaveLength(1);
  expect(made.troubles).toEqual([]);
});

test('stopping ends the watch, and nothing is told afterwards', async () => {
  const made = await start((request) => (isWatch(request) ? beginWatch(request) : request.answer(200, listOf(5))));
  await vi.waitFor(() => expect(made.watches()).toHaveLength(1), 20_000);
  const { stream } = made.watches()[0] ?? {};
  await made.reflector[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(stream?.destroyed).toBe(true), 20_000);
  expect(made.events).toEqual(['Synced']);
  await made[Symbol.asyncDispose]();
});
