import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callPlugin } from '#test/support/plugin-call.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { startClusterAgentProcess } from './cluster-agent-process.ts';
import { type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';
import { callPluginFor } from './pod-plugin.ts';

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster({ isAdopted: false });
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.99'], default: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());

test('a starting agent holds STATUS: it succeeds as soon as the agent is ready, and until then has code 50', async () => {
  await using agent = await startAgentOf(cluster);
  const env = { IPLEDGER_SOCKET: agent.socket };
  const early = await callPlugin({ env }, 'STATUS', 'any');
  expect([early.code, early.document?.code]).toEqual([1, 50]);
  expect(early.document?.msg).toContain('ipledger-adopted');
  const held = callPlugin({ env }, 'STATUS', 'any');
  await wait(1_000);
  await cluster.adopt();
  expect(await held).toEqual({ code: 0, document: null });
});

test('an agent that is stopped during an ADD answers STATUS until the ADD is answered too', async () => {
  await using proxy = await startTcpProxy(cluster.ledger.port);
  await using agent = await startClusterAgentProcess(cluster, proxy.port);
  const pod = await cluster.createPod({ name: 'slow' });
  proxy.hold('requests');
  const adding = callPluginFor(agent, 'ADD', pod);
  await wait(1_000);
  const stopping = agent.stop();
  await wait(3_000);
  expect(await callPlugin(agent, 'STATUS', 'any')).toEqual({ code: 0, document: null });
  proxy.release();
  expect((await adding).code).toBe(0);
  expect(await stopping).toBe(0);
});
