import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { MetricSet } from '#pkg/metrics/metric-set.ts';
import { openAgentPorts } from './agent-ports.ts';

const FINE = { startup: () => null, readiness: () => null, liveness: () => null };
const HOST = '127.0.0.1';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function environment(more = {}) {
  const [healthPort, metricPort] = [await freePort(), await freePort()];
  return { healthHost: HOST, healthPort, metricPort, isMetricEnabled: true, isDebugMetricEnabled: false, ...more };
}

const isOpen = (port: number) =>
  fetch(`http://${HOST}:${port}/v1/runtime/liveness`).then(
    () => true,
    () => false,
  );

test('the health and metrics ports are open until they are disposed', async () => {
  const env = await environment();
  const ports = await openAgentPorts(env, FINE, new MetricSet(), HOST);
  expect([await isOpen(env.healthPort), await isOpen(env.metricPort)]).toEqual([true, true]);
  await ports[Symbol.asyncDispose]();
  expect([await isOpen(env.healthPort), await isOpen(env.metricPort)]).toEqual([false, false]);
});

test('disabled metrics have no port; debug metrics include those of the process', async () => {
  const off = await environment({ isMetricEnabled: false });
  await using _off = await openAgentPorts(off, FINE, new MetricSet(), HOST);
  expect(await isOpen(off.metricPort)).toBe(false);
  const debug = await environment({ isDebugMetricEnabled: true });
  await using _debug = await openAgentPorts(debug, FINE, new MetricSet(), HOST);
  const answer = await fetch(`http://${HOST}:${debug.metricPort}/metrics`);
  expect(await answer.text()).toContain('nodejs_heap_size_used_bytes');
});

test('when the second port is in use, the first is closed and the error names the setting', async () => {
  const env = await environment();
  await using _first = await openAgentPorts(env, FINE, new MetricSet(), HOST);
  const next = { ...env, healthPort: await freePort() };
  await expect(openAgentPorts(next, FINE, new MetricSet(), HOST)).rejects.toThrow('SPIDERPOOL_METRIC_HTTP_PORT');
  expect(await isOpen(next.healthPort)).toBe(false);
});
