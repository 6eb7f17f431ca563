import { describe, expect, test } from 'vitest';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import { startScripted, THINGS } from '#test/support/scripted-client.ts';
import { type Script, type ScriptedRequest, statusBody } from '#test/support/scripted-server.ts';

const AT = { name: 'a' };
const THING = { metadata: { name: 'a', uid: 'u1', resourceVersion: '7' }, spec: { size: 1 } };

describe('requests', () => {
  test('each verb sends what the API server expects', async () => {
    await using made = await startScripted((request) => request.answer(200, THING));
    const { client, server } = made;
    await client.get(THINGS, { namespace: 'n', name: 'a' }, { form: 'metadata' });
    await client.create(THINGS, { metadata: { name: 'a' }, spec: 1 });
    await client.update(THINGS, { metadata: { name: 'a', resourceVersion: '7' } }, { subresource: 'status' });
    await client.patch(THINGS, AT, { status: { x: 1 } }, { subresource: 'status' });
    await client.delete(THINGS, { name: 'a', uid: 'u1', resourceVersion: '7' });
    const sent = server.requests.map(({ method, path, headers, body }) => ({
      line: `${method} ${path}`,
      accept: headers['accept'],
      type: headers['content-type'],
      body: body === '' ? null : JSON.parse(body),
    }));
    expect(sent).toEqual([
      {
        line: 'GET /apis/test.io/v1/namespaces/n/things/a',
        accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
        type: undefined,
        body: null,
      },
      {
        line: 'POST /apis/test.io/v1/things',
        accept: 'application/json',
        type: 'application/json',
        body: { apiVersion: 'test.io/v1', kind: 'Thing', metadata: { name: 'a' }, spec: 1 },
      },
      {
        line: 'PUT /apis/test.io/v1/things/a/status',
        accept: 'application/json',
        type: 'application/json',
        body: { apiVersion: 'test.io/v1', kind: 'Thing', metadata: { name: 'a', resourceVersion: '7' } },
      },
      {
        line: 'PATCH /apis/test.io/v1/things/a/status',
        accept: 'application/json',
        type: 'application/merge-patch+json',
        body: { status: { x: 1 } },
      },
      {
        line: 'DELETE /apis/test.io/v1/things/a',
        accept: 'application/json',
        type: 'application/json',
        body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'u1', resourceVersion: '7' } },
      },
    ]);
  });

  test('a name cannot reach out of its place in the path', async () => {
    await using made = await startScripted((request) => request.answer(404, ''));
    await made.client.get(THINGS, { name: '../../secrets?x=1' });
    expect(made.server.requests[0]?.path).toBe('/apis/test.io/v1/things/..%2F..%2Fsecrets%3Fx%3D1');
  });
});

describe('answers', () => {
  test.each([
    { name: 'junk', body: '<html>', because: 'BadAnswer' },
    { name: 'nothing', body: '', because: 'BadAnswer' },
    { name: 'an object without a uid', body: { metadata: { name: 'a', resourceVersion: '7' } }, because: 'BadAnswer' },
    {
      name: 'labels that are no text',
      body: { metadata: { ...THING.metadata, labels: { a: 1 } } },
      because: 'BadAnswer',
    },
    { name: 'another object', body: { metadata: { ...THING.metadata, name: 'b' } }, because: 'BadAnswer' },
    { name: 'a list', body: [THING], because: 'BadAnswer' },
  ])('a 200 with $name is $because', async ({ body, because }) => {
    await using made = await startScripted((request) => request.answer(200, body));
    expect(await made.client.get(THINGS, AT)).toMatchObject({ ok: false, because });
  });

  test('one without an end is cut at the allowed size, and the connection stays', async () => {
    await using made = await startScripted(
      ({ stream, path, answer }) => {
        if (path.endsWith('/b')) return answer(200, { metadata: { ...THING.metadata, name: 'b' } });
        stream.respond({ ':status': 200 });
        const more = () => void (stream.destroyed || stream.write(Buffer.alloc(60_000, 120), more));
        more();
      },
      { maxAnswerBytes: 1_000_000 },
    );
    const outcome = await made.client.get(THINGS, AT);
    expect(outcome).toMatchObject({
      ok: false,
      because: 'TooLarge',
      message: expect.stringContaining('larger than allowed'),
    });
    expect(await made.client.get(THINGS, { name: 'b' })).toMatchObject({ ok: true });
    expect(made.server.sessions.size).toBe(1);
  });

  test.each([
    { name: 'its stream', cut: ({ stream }: ScriptedRequest) => stream.destroy(new Error('cut')) },
    { name: 'its connection', cut: ({ session }: ScriptedRequest) => session?.destroy() },
  ])('one that $name ends in the middle of is unknown', async ({ cut }) => {
    await using made = await startScripted((request) => {
      request.stream.respond({ ':status': 200 });
      request.stream.write('{"metadata":');
      setTimeout(() => cut(request), 50);
    });
    expect(await made.client.create(THINGS, THING)).toMatchObject({ ok: false, because: 'Unknown' });
  });
});

describe('429', () => {
  test('the pause it asks for is kept, then the request succeeds', async () => {
    const at: number[] = [];
    await using made = await startScripted(({ answer }) => {
      at.push(performance.now());
      if (at.length === 1) answer(429, 'Too many requests', { 'retry-after': '1' });
      else answer(201, THING);
    });
    expect(await made.client.create(THINGS, THING)).toMatchObject({ ok: true });
    const [first = 0, second = 0] = at;
    expect(second - first).toBeGreaterThanOrEqual(1_000);
    expect(second - first).toBeLessThan(1_600);
  });

  test('a pause longer than the time left is told at once', async () => {
    await using made = await startScripted(({ answer }) => answer(429, '', { 'retry-after': '30' }));
    const outcome = await made.client.create(THINGS, THING);
    expect(outcome).toMatchObject({ because: 'TooManyRequests', retryAfterMs: 30_000 });
    expect(made.server.requests).toHaveLength(1);
  });

  test('a pause that no call could wait for binds the calls of the same kind that follow', async () => {
    let aheadMs = 0;
    const timing = { ...SYSTEM_TIMING, nowMs: () => performance.now() + aheadMs };
    let isBusy = true;
    const script: Script = ({ answer }) => (isBusy ? answer(429, '', { 'retry-after': '30' }) : answer(200, THING));
    await using made = await startScripted(script, { timing });
    const { client, server } = made;
    await client.create(THINGS, THING);
    isBusy = false;
    aheadMs += 15_000;
    const early = await client.update(THINGS, THING);
    expect(early).toMatchObject({ because: 'TooManyRequests', retryAfterMs: expect.closeTo(15_000, -3) });
    expect(server.requests).toHaveLength(1);
    expect(await client.get(THINGS, AT)).toMatchObject({ ok: true });
    expect(await client.create({ ...THINGS, plural: 'others' }, THING)).toMatchObject({ ok: true });
    aheadMs += 15_000;
    expect(await client.create(THINGS, THING)).toMatchObject({ ok: true });
  });

  test('the rest of such a pause is waited for by a call that has the time', async () => {
    const at: number[] = [];
    await using made = await startScripted(({ answer }) => {
      at.push(performance.now());
      if (at.length === 1) answer(429, '', { 'retry-after': '1' });
      else answer(201, THING);
    });
    expect(await made.client.create(THINGS, THING, { timeoutMs: 500 })).toMatchObject({ because: 'TooManyRequests' });
    expect(await made.client.create(THINGS, THING)).toMatchObject({ ok: true });
    const [first = 0, second = 0] = at;
    expect(second - first).toBeGreaterThanOrEqual(1_000);
  });
});

describe('503 with Retry-After', () => {
  const busyOnce = (made: number[]): Script => {
    return ({ answer }) => {
      made.push(performance.now());
      if (made.length === 1) answer(503, 'no server is available', { 'retry-after': '1' });
      else answer(200, THING);
    };
  };

  test('a read waits for the pause and is repeated', async () => {
    const at: number[] = [];
    await using made = await startScripted(busyOnce(at));
    expect(await made.client.get(THINGS, AT)).toMatchObject({ ok: true });
    const [first = 0, second = 0] = at;
    expect(second - first).toBeGreaterThanOrEqual(1_000);
  });

  test('a write may have been done: it is not repeated here, and the next one keeps the pause', async () => {
    const at: number[] = [];
    await using made = await startScripted(busyOnce(at));
    const first = await made.client.create(THINGS, THING);
    expect(first).toMatchObject({ because: 'ServerError', retryAfterMs: 1_000 });
    expect(await made.client.create(THINGS, THING)).toMatchObject({ ok: true });
    const [refusedAt = 0, doneAt = 0] = at;
    expect(doneAt - refusedAt).toBeGreaterThanOrEqual(1_000);
  });

  test('without Retry-After a read fails at once', async () => {
    await using made = await startScripted(({ answer }) => answer(503, ''));
    expect(await made.client.get(THINGS, AT)).toMatchObject({ because: 'ServerError' });
    expect(made.server.requests).toHaveLength(1);
  });
});

describe('401', () => {
  const needsNewToken: Script = ({ headers, answer }) =>
    headers['authorization'] === 'Bearer new' ? answer(200, THING) : answer(401, statusBody(401, 'Unauthorized'));

  test('the credentials are read again and the request repeated', async () => {
    const tokens = ['old', 'new'];
    await using made = await startScripted(needsNewToken, {}, (server) =>
      server.access({ authorization: `Bearer ${tokens.length > 1 ? tokens.shift() : tokens[0]}` }),
    );
    expect(await made.client.get(THINGS, AT)).toEqual({ ok: true, object: THING });
    expect(made.server.requests).toHaveLength(2);
  });

  test('once only', async () => {
    await using made = await startScripted(needsNewToken, {}, (server) =>
      server.access({ authorization: 'Bearer old' }),
    );
    expect(await made.client.get(THINGS, AT)).toMatchObject({ because: 'Unauthorized' });
    expect(made.server.requests).toHaveLength(2);
  });
});
