import { constants } from 'node:http2';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { startScripted, THINGS } from '#test/support/scripted-client.ts';
import { ScriptedServer } from '#test/support/scripted-server.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { KubeClient } from './client.ts';

const AT = { name: 'a' };
const THING = { metadata: { name: 'a', uid: 'u1', resourceVersion: '7' }, spec: { size: 1 } };

describe('lost answers', () => {
  test('slower than the timeout: unknown, and the next request takes a new connection', async () => {
    await using made = await startScripted(({ path, answer }) => {
      if (path.endsWith('/b')) answer(200, { metadata: { ...THING.metadata, name: 'b' } });
    });
    const outcome = await made.client.get(THINGS, AT, { timeoutMs: 100 });
    expect(outcome).toMatchObject({
      ok: false,
      because: 'Unknown',
      message: expect.stringMatching(/^no answer within \d+ ms$/),
    });
    expect(await made.client.get(THINGS, { name: 'b' })).toMatchObject({ ok: true });
    expect(new Set(made.server.requests.map(({ session }) => session)).size).toBe(2);
  });

  test('slow within the timeout: answered', async () => {
    await using made = await startScripted(({ answer }) => void setTimeout(() => answer(200, THING), 300));
    expect(await made.client.get(THINGS, AT)).toEqual({ ok: true, object: THING });
  });

  test('nobody listens: unreachable, and reached again without anybody acting', async () => {
    const first = await ScriptedServer.start(() => {});
    const { port } = first;
    const access = first.access();
    await first[Symbol.asyncDispose]();
    using client = new KubeClient(async () => access, { userAgent: 'test' });
    expect(await client.get(THINGS, AT)).toMatchObject({ ok: false, because: 'Unreachable' });
    await using second = await ScriptedServer.start(({ answer }) => answer(200, THING));
    await second[Symbol.asyncDispose]();
    await second.listen(port);
    expect(await client.get(THINGS, AT)).toMatchObject({ ok: true });
  });

  test('a connection that is cut: unknown for what was sent', async () => {
    await using made = await startScripted(() => made.server.cutConnections());
    expect(await made.client.create(THINGS, THING)).toMatchObject({ ok: false, because: 'Unknown' });
  });

  test.each(['https', 'http'])('a peer that accepts and says nothing is unreachable over %s', async (scheme) => {
    await using made = await startScripted(
      () => {},
      { limits: { connectTimeoutMs: 200 } },
      (server) => ({
        ...server.access(),
        origin: `${scheme}://127.0.0.1:${proxy.port}`,
      }),
    );
    await using proxy = await startTcpProxy(made.server.port);
    proxy.hold();
    const message = 'no connection to the API server within 200 ms';
    expect(await made.client.get(THINGS, AT)).toEqual({ ok: false, because: 'Unreachable', message });
  });

  test('the caller gives up: unknown once it was sent, unreachable before', async () => {
    await using made = await startScripted(() => {});
    const control = new AbortController();
    const calling = made.client.create(THINGS, THING, { signal: control.signal });
    await vi.waitFor(() => expect(made.server.requests).toHaveLength(1), 20_000);
    control.abort();
    expect(await calling).toMatchObject({ because: 'Unknown' });
    expect(await made.client.create(THINGS, THING, { signal: control.signal })).toMatchObject({
      because: 'Unreachable',
    });
    expect(made.server.requests).toHaveLength(1);
  });
});

describe('streams and sessions', () => {
  test('a refused stream is sent again, because nobody worked on it', async () => {
    await using made = await startScripted(({ stream, answer }) => {
      if (made.server.requests.length === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else answer(201, THING);
    });
    expect(await made.client.create(THINGS, THING)).toEqual({ ok: true, object: THING });
    expect(made.server.requests).toHaveLength(2);
  });

  test('a stream refused again and again is unreachable, after few tries', async () => {
    await using made = await startScripted(({ stream }) => stream.close(constants.NGHTTP2_REFUSED_STREAM));
    expect(await made.client.create(THINGS, THING)).toMatchObject({ because: 'Unreachable' });
    expect(made.server.requests).toHaveLength(3);
  });

  test('a stream reset for any other reason is unknown, and not sent again', async () => {
    await using made = await startScripted(({ stream }) => stream.close(constants.NGHTTP2_CANCEL));
    expect(await made.client.create(THINGS, THING)).toMatchObject({ because: 'Unknown' });
    expect(made.server.requests).toHaveLength(1);
  });

  test('after a goaway what is under way finishes, and what comes takes a new connection', async () => {
    await using made = await startScripted((request) => {
      if (request.path.endsWith('/b')) return request.answer(200, { metadata: { ...THING.metadata, name: 'b' } });
      request.session?.goaway();
      setTimeout(() => request.answer(200, THING), 200);
    });
    const slow = made.client.get(THINGS, AT);
    await vi.waitFor(() => expect(made.server.requests).toHaveLength(1), 20_000);
    await wait(50);
    expect(await made.client.get(THINGS, { name: 'b' })).toMatchObject({ ok: true });
    expect(await slow).toEqual({ ok: true, object: THING });
    const [first, second] = made.server.requests;
    expect(first?.session === second?.session).toBe(false);
  });

  test('a goaway that names the last stream it served: the others are sent again', async () => {
    await using made = await startScripted((request) => {
      if (made.server.requests.length === 2) request.session?.goaway(constants.NGHTTP2_NO_ERROR, 1);
      else setTimeout(() => request.answer(200, THING), 100);
    });
    const both = await Promise.all([made.client.get(THINGS, AT), made.client.get(THINGS, AT)]);
    expect(both).toMatchObject([{ ok: true }, { ok: true }]);
    expect(made.server.requests).toHaveLength(3);
  });

  test('a goaway with an error ends what is under way as unknown', async () => {
    await using made = await startScripted(({ session }) => session?.goaway(constants.NGHTTP2_INTERNAL_ERROR));
    expect(await made.client.create(THINGS, THING)).toMatchObject({ because: 'Unknown' });
  });

  test('a server that closes its sessions after each answer is still served by new ones', async () => {
    await using made = await startScripted(({ session, answer }) => {
      answer(200, THING);
      session?.close();
    });
    for (let round = 0; round < 20; round += 1) expect(await made.client.get(THINGS, AT)).toMatchObject({ ok: true });
  });

  test('a peer that stops answering pings is given up, a silent one is not', async () => {
    const limits = { pingEveryMs: 50, pingTimeoutMs: 100 };
    await using made = await startScripted(
      () => {},
      { limits },
      (server) => ({
        ...server.access(),
        origin: `http://127.0.0.1:${proxy.port}`,
      }),
    );
    await using proxy = await startTcpProxy(made.server.port);
    const calling = made.client.get(THINGS, AT, { timeoutMs: 5_000 });
    await vi.waitFor(() => expect(made.server.requests).toHaveLength(1), 20_000);
    await wait(500);
    expect(made.server.sessions.size).toBe(1);
    proxy.hold();
    expect(await calling).toMatchObject({ because: 'Unknown', message: 'no answer to a ping for 100 ms' });
  });
});

describe('bounds', () => {
  test('so many at once, the rest in line, and beyond that none: this says nothing about the API server', async () => {
    const held: (() => void)[] = [];
    await using made = await startScripted(({ answer }) => void held.push(() => answer(200, THING)), {
      limits: { inFlight: 3, waiting: 2 },
    });
    const calls = Array.from({ length: 6 }, () => made.client.get(THINGS, AT));
    expect(await calls[5]).toMatchObject({ because: 'OutOfTime' });
    await vi.waitFor(() => expect(held).toHaveLength(3), 20_000);
    await wait(50);
    expect(made.server.requests).toHaveLength(3);
    for (const release of held) release();
    await vi.waitFor(() => expect(held).toHaveLength(5), 20_000);
    for (const release of held.slice(3)) release();
    expect((await Promise.all(calls.slice(0, 5))).every((outcome) => outcome.ok)).toBe(true);
  });

  test.each([-1, 0, -10_000])('a timeout of %i ms is no time, with and without a free slot', async (timeoutMs) => {
    await using made = await startScripted(() => {}, { limits: { inFlight: 1 } });
    expect(await made.client.get(THINGS, AT, { timeoutMs })).toMatchObject({ because: 'OutOfTime' });
    const first = made.client.get(THINGS, AT, { timeoutMs: 300 });
    expect(await made.client.get(THINGS, AT, { timeoutMs })).toMatchObject({ because: 'OutOfTime' });
    await first;
    expect(made.server.requests).toHaveLength(1);
  });

  test('a request that waits in line too long is never sent', async () => {
    await using made = await startScripted(() => {}, { limits: { inFlight: 1 } });
    const [first, second] = [
      made.client.get(THINGS, AT, { timeoutMs: 400 }),
      made.client.get(THINGS, AT, { timeoutMs: 100 }),
    ];
    expect(await second).toMatchObject({ because: 'OutOfTime' });
    expect(await first).toMatchObject({ because: 'Unknown' });
    expect(made.server.requests).toHaveLength(1);
  });
});
