import { connect } from 'node:net';
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

const fine: HealthCheck = () => null;

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
