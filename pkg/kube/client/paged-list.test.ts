import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { startScripted, THINGS } from '#test/support/scripted-client.ts';
import { type Script, statusBody } from '#test/support/scripted-server.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const thing = (name: string) => ({ metadata: { name, uid: name, resourceVersion: '1' } });
const page = (names: readonly string[], more: object = {}) => ({
  kind: 'ThingList',
  metadata: { resourceVersion: '9', ...more },
  items: names.map(thing),
});

/** Pages of `NAMES`; the continue token is the index to go on at. */
const inPages: Script = ({ query, answer }) => {
  const start = Number(query.get('continue') ?? 0);
  const end = start + Number(query.get('limit') ?? NAMES.length);
  answer(200, page(NAMES.slice(start, end), end < NAMES.length ? { continue: String(end) } : {}));
};

test('pages are put together, and no resourceVersion is asked for', async () => {
  await using made = await startScripted(inPages);
  const listed = await made.client.list(THINGS, { labelSelector: 'x in (a,b)' }, { pageSize: 2 });
  expect(listed).toMatchObject({ ok: true, object: { resourceVersion: '9', items: NAMES.map(thing) } });
  expect(made.server.requests.map(({ query }) => Object.fromEntries(query))).toEqual([
    { labelSelector: 'x in (a,b)', limit: '2' },
    { labelSelector: 'x in (a,b)', limit: '2', continue: '2' },
    { labelSelector: 'x in (a,b)', limit: '2', continue: '4' },
  ]);
});

test('what is trimmed of each object is gone before the next page is asked for', async () => {
  const asked: number[] = [];
  await using made = await startScripted((request) => {
    asked.push(trimmed.length);
    inPages(request);
  });
  const trimmed: string[] = [];
  const trim = ({ metadata }: KubeObject) => {
    trimmed.push(metadata.name);
    return { metadata, kept: metadata.name };
  };
  const listed = await made.client.list(THINGS, {}, { pageSize: 2, trim });
  const kept = NAMES.map((name) => ({ ...thing(name), kept: name }));
  expect(listed).toMatchObject({ ok: true, object: { items: kept } });
  expect(asked).toEqual([0, 2, 4]);
});

test('a snapshot that expires in the middle starts the list anew: nothing twice, nothing missing', async () => {
  let expired = false;
  await using made = await startScripted((request) => {
    if (request.query.has('continue') && !expired) {
      expired = true;
      return request.answer(410, statusBody(410, 'Expired'));
    }
    inPages(request);
  });
  const listed = await made.client.list(THINGS, {}, { pageSize: 2 });
  expect(listed).toMatchObject({ ok: true, object: { items: NAMES.map(thing) } });
});

test('one that always expires is asked for in one piece in the end', async () => {
  await using made = await startScripted((request) => {
    if (request.query.has('continue')) return request.answer(410, statusBody(410, 'Expired'));
    inPages(request);
  });
  const listed = await made.client.list(THINGS, {}, { pageSize: 2 });
  expect(listed).toMatchObject({ ok: true, object: { items: NAMES.map(thing) } });
  expect(made.server.requests).toHaveLength(7);
});

test.each([
  { name: 'a failing page', status: 500, body: statusBody(500, 'InternalError'), because: 'ServerError' },
  { name: 'no list at all', status: 200, body: thing('a'), because: 'BadAnswer' },
  { name: 'an item without metadata', status: 200, body: { ...page(['a']), items: [{}] }, because: 'BadAnswer' },
  { name: 'a kind that is not served', status: 404, body: '404 page not found', because: 'NotServed' },
])('$name fails the whole list', async ({ status, body, because }) => {
  await using made = await startScripted((request) =>
    request.query.has('continue') ? request.answer(status, body) : inPages(request),
  );
  expect(await made.client.list(THINGS, {}, { pageSize: 2 })).toMatchObject({ ok: false, because });
});

describe('the size of pages', () => {
  const COUNT = 2_000;
  /** Objects of so many bytes, as a server with a limit of its own would send them. */
  const objectsOf =
    (bytes: number): Script =>
    ({ query, answer }) => {
      const start = Number(query.get('continue') ?? 0);
      const end = Math.min(COUNT, start + Number(query.get('limit') ?? COUNT));
      const names = Array.from({ length: end - start }, (_, at) => `n${start + at}`);
      const items = names.map((name) => ({ ...thing(name), spec: 'x'.repeat(bytes) }));
      answer(200, { ...page([], end < COUNT ? { continue: String(end) } : {}), items });
    };

  test.each([
    { name: 'small objects: 500', bytes: 100, largest: 500, least: 500 },
    { name: 'pods of 8 kB: about 1 MiB', bytes: 8_000, largest: 135, least: 120 },
    { name: 'objects of 100 kB: some', bytes: 100_000, largest: 10, least: 10 },
  ])('$name', async ({ bytes, largest, least }) => {
    await using made = await startScripted(objectsOf(bytes));
    const listed = await made.client.list(THINGS, {}, { trim: ({ metadata }) => ({ metadata }) });
    expect(listed.ok && new Set(listed.object.items.map(({ metadata }) => metadata.name)).size).toBe(COUNT);
    const [first, ...rest] = made.server.requests.map(({ query }) => Number(query.get('limit')));
    expect(first).toBe(100);
    expect(Math.max(...rest)).toBeLessThanOrEqual(largest);
    expect(Math.min(...rest)).toBeGreaterThanOrEqual(least);
  });

  test('a page that is too large is asked for in smaller ones, nothing twice, nothing missing', async () => {
    await using made = await startScripted(objectsOf(1_000), { maxPageBytes: 60_000 });
    const listed = await made.client.list(THINGS);
    expect(listed.ok && listed.object.items.map(({ metadata }) => metadata.name)).toEqual(
      Array.from({ length: COUNT }, (_, at) => `n${at}`),
    );
  });

  test('a list of any length is read page by page where it is not kept', async () => {
    await using made = await startScripted(objectsOf(1_000), { maxListBytes: 10_000 });
    expect(await made.client.list(THINGS)).toMatchObject({
      because: 'TooLarge',
      message: expect.stringContaining('10000'),
    });
    const pages: number[] = [];
    const sink = {
      begin: () => {},
      take: ({ items }: { items: readonly unknown[] }) => void pages.push(items.length),
    };
    expect(await made.client.listPages(THINGS, {}, {}, sink)).toEqual({ ok: true, object: '9' });
    expect(pages.reduce((sum, count) => sum + count, 0)).toBe(COUNT);
  });

  test('one that expires before its many pages are read, and is too large for one piece, is read in larger pages', async () => {
    let pages = 0;
    const script: Script = (request) => {
      pages = request.query.has('continue') ? pages + 1 : 1;
      if (pages > 5) request.answer(410, statusBody(410, 'Expired'));
      else objectsOf(8_000)(request);
    };
    await using made = await startScripted(script, { maxPageBytes: 12 << 20 });
    const listed = await made.client.list(THINGS, {}, { trim: ({ metadata }) => ({ metadata }) });
    expect(listed.ok && new Set(listed.object.items.map(({ metadata }) => metadata.name)).size).toBe(COUNT);
  });

  test('one that always expires and is too large for one piece fails, and says so', async () => {
    const script: Script = (request) =>
      request.query.has('continue') ? request.answer(410, statusBody(410, 'Expired')) : objectsOf(1_000)(request);
    await using made = await startScripted(script, { maxPageBytes: 1_000_000 });
    expect(await made.client.list(THINGS)).toMatchObject({
      ok: false,
      because: 'TooLarge',
      message: expect.stringContaining('in one piece'),
    });
    expect(made.server.requests).toHaveLength(7);
  });
});

describe('a list that does not end', () => {
  /** Each page brings one object and a new token. */
  const endless: Script = ({ query, answer }) => {
    const at = Number(query.get('continue') ?? 0);
    setTimeout(() => answer(200, page([`n${at}`], { continue: String(at + 1) })), 10);
  };

  test.each(['list', 'listTable'] as const)('%s: the timeout is that of all pages together', async (verb) => {
    await using made = await startScripted((request) =>
      verb === 'list'
        ? endless(request)
        : endless({
            ...request,
            answer: (status, body) =>
              request.answer(status, { ...(body as object), kind: 'Table', columnDefinitions: [], rows: [] }),
          }),
    );
    const startedAtMs = performance.now();
    const listed = await made.client[verb](THINGS, {}, { pageSize: 1, timeoutMs: 300 });
    expect(listed).toMatchObject({ ok: false, because: 'Unknown' });
    // Less than one page may take by itself.
    expect(performance.now() - startedAtMs).toBeLessThan(5_000);
    expect(made.server.requests.length).toBeGreaterThan(1);
  });

  test.each(['list', 'listTable'] as const)('%s: one page may have less time than all together', async (verb) => {
    await using made = await startScripted(({ query, answer }) => {
      if (query.has('continue')) return;
      answer(200, { ...page(['a'], { continue: '1' }), kind: 'Table', columnDefinitions: [], rows: [] });
    });
    const startedAtMs = performance.now();
    const listed = await made.client[verb](THINGS, {}, { pageSize: 1, timeoutMs: 60_000, pageTimeoutMs: 200 });
    expect(listed).toMatchObject({ ok: false, because: 'Unknown' });
    expect(performance.now() - startedAtMs).toBeLessThan(30_000);
  });

  test('a list that always starts anew has no more time for it', async () => {
    await using made = await startScripted((request) => {
      if (request.query.has('continue')) return request.answer(410, statusBody(410, 'Expired'));
      setTimeout(() => inPages(request), 150);
    });
    const listed = await made.client.list(THINGS, {}, { pageSize: 2, timeoutMs: 250 });
    expect(listed).toMatchObject({ ok: false, because: 'Unknown' });
  });

  test('all pages together are bounded in size', async () => {
    await using made = await startScripted(endless, { maxListBytes: 1_000 });
    const listed = await made.client.list(THINGS, {}, { pageSize: 1, timeoutMs: 5_000 });
    expect(listed).toMatchObject({ ok: false, because: 'TooLarge' });
    expect(made.server.requests.length).toBeGreaterThan(1);
    expect(made.server.requests.length).toBeLessThan(12);
  });

  test('one that goes round in a circle is a bad answer, at once', async () => {
    const next: Record<string, string> = { '': 'x', x: 'y', y: 'x' };
    await using made = await startScripted(({ query, answer }) =>
      answer(200, page(['a'], { continue: next[query.get('continue') ?? ''] })),
    );
    expect(await made.client.list(THINGS, {}, { pageSize: 1 })).toMatchObject({ ok: false, because: 'BadAnswer' });
    expect(made.server.requests).toHaveLength(3);
  });
});

test('a table is columns and cells, page by page if wished', async () => {
  await using made = await startScripted(({ query, headers, answer }) => {
    expect(headers['accept']).toBe('application/json;as=Table;g=meta.k8s.io;v=v1');
    expect(query.get('includeObject')).toBe('None');
    const isFirst = !query.has('continue');
    answer(200, {
      kind: 'Table',
      metadata: { resourceVersion: '9', ...(isFirst && query.has('limit') ? { continue: 'next' } : {}) },
      columnDefinitions: isFirst ? [{ name: 'Name' }, { name: 'State' }] : [],
      rows: [{ cells: [isFirst ? 'a' : 'b', 'Allocated'], object: null }],
    });
  });
  expect(await made.client.listTable(THINGS)).toEqual({
    ok: true,
    object: { columns: ['Name', 'State'], rows: [['a', 'Allocated']], resourceVersion: '9' },
  });
  expect(await made.client.listTable(THINGS, {}, { pageSize: 1 })).toMatchObject({
    object: {
      columns: ['Name', 'State'],
      rows: [
        ['a', 'Allocated'],
        ['b', 'Allocated'],
      ],
    },
  });
});

test('of a table only the wished columns are kept, on every page, in the wished order', async () => {
  await using made = await startScripted(({ query, answer }) => {
    const isFirst = !query.has('continue');
    answer(200, {
      kind: 'Table',
      metadata: { resourceVersion: '9', ...(isFirst ? { continue: 'next' } : {}) },
      columnDefinitions: isFirst ? [{ name: 'Name' }, { name: 'Age' }, { name: 'State' }] : null,
      rows: [{ cells: [isFirst ? 'a' : 'b', '5m', 'Allocated'] }],
    });
  });
  expect(await made.client.listTable(THINGS, {}, { pageSize: 1, columns: ['State', 'Name', 'Pool'] })).toEqual({
    ok: true,
    object: {
      columns: ['State', 'Name'],
      rows: [
        ['Allocated', 'a'],
        ['Allocated', 'b'],
      ],
      resourceVersion: '9',
    },
  });
});

describe('a compressed table', () => {
  const table = { kind: 'Table', metadata: { resourceVersion: '9' }, columnDefinitions: [], rows: [{ cells: ['a'] }] };
  const packed = gzipSync(JSON.stringify(table));
  const bomb = gzipSync(JSON.stringify(table).padEnd(65 << 20));

  test.each([
    { name: 'whole', body: packed, outcome: { ok: true, object: { rows: [['a']] } } },
    { name: 'cut', body: packed.subarray(0, 40), outcome: { ok: false, because: 'BadAnswer' } },
    { name: 'much larger than it looks', body: bomb, outcome: { ok: false, because: 'TooLarge' } },
  ])('$name', async ({ body, outcome }) => {
    await using made = await startScripted(({ stream, headers }) => {
      expect(headers['accept-encoding']).toBe('gzip');
      stream.respond({ ':status': 200, 'content-encoding': 'gzip' });
      stream.end(body);
    });
    expect(await made.client.listTable(THINGS)).toMatchObject(outcome);
  });
});

test.each([
  { name: 'a list instead', body: page(['a']) },
  { name: 'no rows', body: { kind: 'Table', metadata: { resourceVersion: '9' }, columnDefinitions: [] } },
  { name: 'a row without cells', body: { ...page([]), kind: 'Table', columnDefinitions: [], rows: [{}] } },
  { name: 'a row that is null', body: { ...page([]), kind: 'Table', columnDefinitions: [], rows: [null] } },
])('a table answered with $name is a bad answer', async ({ body }) => {
  await using made = await startScripted(({ answer }) => answer(200, body));
  expect(await made.client.listTable(THINGS)).toMatchObject({ ok: false, because: 'BadAnswer' });
});
