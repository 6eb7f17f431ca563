import { connect, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { type HealthCheck, startHealthServer } from './health-server.ts';
import { MetricSet } from './metric-set.ts';
import { startMetricsServer } from './metrics-server.ts';

const AT = { port: 0, host: '127.0.0.1', portSetting: 'IPLEDGER_TEST_PORT' };

test('metrics are shown at any path, to GET only', async () => {
  const set = new MetricSet();
  set.counter('calls_total', 'Calls').add();
  await using server = await startMetricsServer(set, AT);
  for (const path of ['/', '/metrics?x=1', '/any/thing']) {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('calls_total 1')]);
    expect(answer.headers.get('content-type')).toContain('text/plain');
  }
  const refused = await fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: 'x'.repeat(100_000) });
  expect(refused.status).toBe(405);
});

test('a port in use is refused with the setting to change', async () => {
  await using server = await startMetricsServer(new MetricSet(), AT);
  await expect(startMetricsServer(new MetricSet(), { ...AT, port: server.port })).rejects.toMatchObject({
    reason: 'bad-config',
    message: `port ${server.port} (IPLEDGER_TEST_PORT) cannot be opened: another process uses it`,
  });
});

test('stopping it does not wait for clients that keep their connection', async () => {
  const server = await startMetricsServer(new MetricSet(), AT);
  const client = connect(server.port, '127.0.0.1');
  const ended = new Promise((resolve) => client.once('close', resolve));
  client.on('error', () => {});
  await new Promise((resolve) => client.once('connect', resolve));
  await server[Symbol.asyncDispose]();
  await ended;
});

test('a scrape storm computes the page once, and one reading serves all families', async () => {
  let [now, readings] = [0, 0];
  const read = async () => {
    readings += 1;
    return ['a', 'b'].map((name) => ({ name, labels: {}, value: readings }));
  };
  const set = new MetricSet();
  for (const name of ['a', 'b']) set.gauges(name, 'Help', [], read);
  await using server = await startMetricsServer(set, AT, () => now);
  const scrape = async () => (await fetch(`http://127.0.0.1:${server.port}/`)).text();
  const pages = await Promise.all(Array.from({ length: 50 }, scrape));
  expect(new Set(pages).size).toBe(1);
  expect(readings).toBe(1);
  now = 1_000;
  expect(await scrape()).toContain('\na 2\n');
});

test('a page that could not be computed is computed again', async () => {
  let now = 0;
  const set = new MetricSet();
  set.counter('calls_total', 'Calls').add();
  const text = vi.spyOn(set, 'text').mockRejectedValueOnce(new Error('broken'));
  await using server = await startMetricsServer(set, AT, () => now);
  expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(500);
  now = 1_000;
  expect((await fetch(`http://127.0.0.1:${server.port}/`)).status).toBe(200);
  expect(text).toHaveBeenCalledTimes(2);
});

/** A host that connects, says nothing, and connects again when it is cut off. */
function crowd(port: number, size: number): Disposable {
  const sockets = new Set<Socket>();
  let isOver = false;
  const join = () => {
    if (isOver) return;
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.9' });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      setTimeout(join, 5);
    });
  };
  for (let n = 0; n < size; n++) join();
  return {
    [Symbol.dispose]: () => {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}

const fine: HealthCheck = () => null;

test('silent clients that come back keep nobody from being answered', async () => {
  await using server = await startHealthServer({ startup: fine, readiness: fine, liveness: fine }, AT);
  using _crowd = crowd(server.port, 96);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const probe = () =>
    fetch(`http://127.0.0.1:${server.port}/v1/runtime/liveness`, { headers: { connection: 'close' } }).then(
      ({ status }) => status,
      () => 'cut off',
    );
  for (let n = 0; n < 14; n++) expect(await probe()).toBe(200);
});

test('health is not on the addresses that strangers reach, unless it is put there', async () => {
  const checks = { startup: fine, readiness: fine, liveness: fine };
  const isReached = async (port: number, host: string) =>
    fetch(`http://${host}:${port}/v1/runtime/liveness`).then(
      () => true,
      () => false,
    );
  await using server = await startHealthServer(checks, { port: 0, portSetting: 'IPLEDGER_TEST_PORT' });
  expect([await isReached(server.port, '127.0.0.1'), await isReached(server.port, '127.0.0.2')]).toEqual([true, false]);
  await using open = await startHealthServer(checks, { ...AT, host: '0.0.0.0' });
  expect(await isReached(open.port, '127.0.0.2')).toBe(true);
});

test.each<{ name: string; check: HealthCheck; status: number; says: string }>([
  { name: 'fine', check: fine, status: 200, says: 'ok' },
  { name: 'not yet', check: () => 'the records are not read yet', status: 500, says: 'the records are not read yet' },
  { name: 'throwing', check: () => Promise.reject(new Error('broken')), status: 500, says: 'broken' },
  { name: 'never ending', check: () => new Promise(() => {}), status: 500, says: 'no answer within 50 ms' },
])('a check that is $name', async ({ check, status, says }) => {
  await using server = await startHealthServer({ startup: fine, readiness: check, liveness: fine }, AT, 50);
  const answer = await fetch(`http://127.0.0.1:${server.port}/v1/runtime/readiness`);
  expect([answer.status, await answer.json()]).toEqual([status, says]);
  const others = await Promise.all(
    ['startup', 'liveness'].map((name) => fetch(`http://127.0.0.1:${server.port}/v1/runtime/${name}`)),
  );
  expect(others.map((it) => it.status)).toEqual([200, 200]);
});

test('another path is told what there is', async () => {
  const check = vi.fn(fine);
  await using server = await startHealthServer({ startup: check, readiness: check, liveness: check }, AT);
  const answer = await fetch(`http://127.0.0.1:${server.port}/healthz`);
  expect([answer.status, await answer.json()]).toEqual([404, expect.stringContaining('/v1/runtime/readiness')]);
  expect(check).not.toHaveBeenCalled();
});
