import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { taken } from '#test/contract/ledger-resource.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { recordRequests } from './ledger-requests.ts';
import { type AgentAtWork, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';
import { type PoolWithPods, poolMaker } from './pool-with-pods.ts';

let cluster: PodCluster;
let controller: Ledger;

beforeAll(async () => {
  cluster = await startPodCluster();
  controller = openKubernetesLedger(cluster.ledger.controller());
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

const poolOf = poolMaker(() => cluster);
const PATIENT = { exhaustedWaitSeconds: 100 };
const LASTS = ['10', '11', '12', '13'];

/** Takes every address of the pool for pods of other nodes. */
async function fill(pool: PoolWithPods): Promise<IpRecord[]> {
  return await Promise.all(
    LASTS.map((last) => {
      const spec = {
        ...specOf(pool.address(Number(last))),
        pool: { kind: 'SpiderIPPool', name: pool.name, uid: 'u' },
      } as const;
      return taken(controller, heldBy(spec, { node: `worker-${last}`, uid: last, name: `pod-${last}` }));
    }),
  );
}

/** Starts ADDs that wait, one after the other. */
async function startWaiting(agent: AgentAtWork, pool: PoolWithPods, node: string, count: number) {
  const waiting: Promise<string[]>[] = [];
  for (let at = 0; at < count; at += 1) {
    waiting.push(agent.addressesOf(await pool.pod(`${node}-${at}`, node), { timeoutMs: 120_000 }));
    await vi.waitUntil(() => agent.gauge('waiting-adds') === at + 1, 20_000);
  }
  return waiting;
}

test('all that comes back at once is taken by the calls that wait on two nodes, without a list', async () => {
  const pool = await poolOf(LASTS);
  const records = await fill(pool);
  await using one = await startAgentOf(cluster, { config: PATIENT });
  await using two = await startAgentOf(cluster, { node: 'worker-2', config: PATIENT });
  await Promise.all([one.untilReady(), two.untilReady()]);
  const waiting = [
    ...(await startWaiting(one, pool, 'worker-1', 2)),
    ...(await startWaiting(two, pool, 'worker-2', 2)),
  ];
  const requests = await recordRequests(cluster.ledger.server, async () => {
    for (const record of records) await controller.release(record);
    const addresses = (await Promise.all(waiting)).flat();
    expect(addresses.toSorted()).toEqual(LASTS.map((last) => pool.address(Number(last))));
  });
  expect(requests['LIST']).toBeUndefined();
});

test('calls are served in the order in which they came, by a pool that grows too, without a list', async () => {
  const pool = await poolOf(LASTS);
  const [first] = await fill(pool);
  await using agent = await startAgentOf(cluster, { config: PATIENT });
  await agent.untilReady();
  const [oldest, next] = await startWaiting(agent, pool, 'worker-1', 2);
  const requests = await recordRequests(cluster.ledger.server, async () => {
    if (first !== undefined) await controller.release(first);
    expect(await oldest).toEqual([pool.address(10)]);
    const ips = [...LASTS, '14'].map((last) => pool.address(Number(last)));
    await cluster.patch(pool.path, { spec: { ips } });
    expect(await next).toEqual([pool.address(14)]);
  });
  expect(requests['LIST']).toBeUndefined();
});

test('a call that waits survives a restart of the API server, and gets what came back meanwhile', async () => {
  const pool = await poolOf(LASTS);
  const [first] = await fill(pool);
  await using agent = await startAgentOf(cluster, { config: PATIENT });
  await agent.untilReady();
  const [waiting] = await startWaiting(agent, pool, 'worker-1', 1);
  await cluster.ledger.server.restart();
  await vi.waitFor(async () => {
    if (first !== undefined) await controller.release(first);
  }, 30_000);
  expect(await waiting).toEqual([pool.address(10)]);
});
