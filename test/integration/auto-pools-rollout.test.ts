import { beforeAll, expect, test, vi } from 'vitest';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';
import { asks, lead } from './subnet-stage.ts';

const SPIDER = '/apis/spiderpool.spidernet.io/v2beta1';
const APPS = '/apis/apps/v1/namespaces/default';

let cluster: PodCluster;
let agent: AgentAtWork;

beforeAll(async () => {
  cluster = await startPodCluster();
  agent = await startAgentOf(cluster);
  await agent.untilReady();
  return async () => {
    await agent[Symbol.asyncDispose]();
    await cluster[Symbol.asyncDispose]();
  };
});

test('a rollout with maxSurge in a pool that fits exactly: each new pod waits for the address of an old one', async () => {
  const ips = ['10.50.0.10-10.50.0.29'];
  await cluster.post(`${SPIDER}/spidersubnets`, {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderSubnet',
    metadata: { name: 'rolled' },
    spec: { subnet: '10.50.0.0/24', ips },
  });
  await using _ = await lead({ cluster: cluster.ledger });
  const rollout = await startRollout();
  const old: Pod[] = [];
  for (const i of [0, 1, 2]) old.push(await rollout.podOf('old', i));
  const first = await Promise.all(old.map((pod) => agent.addressesOf(pod)));
  expect(first.flat().toSorted()).toEqual(['10.50.0.10', '10.50.0.11', '10.50.0.12']);
  for (const [i, pod] of old.entries()) {
    const surging = agent.addressesOf(await rollout.podOf('new', i));
    await vi.waitUntil(() => agent.gauge('waiting-adds') === 1, 20_000);
    await agent.del(pod);
    await cluster.deletePod(pod);
    expect(await surging).toEqual(first[i]);
  }
  const pools = await cluster.read<{ items: { spec: { ips: string[] } }[] }>(`${SPIDER}/spiderippools`);
  expect(pools.items.map(({ spec }) => spec.ips)).toEqual([['10.50.0.10-10.50.0.12']]);
});

/** A Deployment of three with its two ReplicaSets, as the controllers of Kubernetes leave them. */
async function startRollout() {
  const labels = { app: 'rolled' };
  const annotations = asks('rolled');
  const template = { metadata: { labels, annotations }, spec: { containers: [{ name: 'main', image: 'main' }] } };
  const spec = { replicas: 3, selector: { matchLabels: labels }, template };
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  type Stored = { metadata: { uid: string } };
  const { metadata } = await cluster.post<Stored>(`${APPS}/deployments`, {
    metadata: { name: 'rolled' },
    spec: { ...spec, strategy },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'rolled', uid: metadata.uid, controller: true };
  const uids = new Map<string, string>();
  for (const which of ['old', 'new']) {
    const set = { metadata: { name: `rolled-${which}`, labels, ownerReferences: [owner] }, spec };
    uids.set(which, (await cluster.post<Stored>(`${APPS}/replicasets`, set)).metadata.uid);
  }
  return {
    podOf: (which: 'old' | 'new', index: number) => {
      const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `rolled-${which}`, uid: uids.get(which) ?? '' };
      return cluster.createPod({ name: `rolled-${which}-${index}`, labels, annotations, owner: set });
    },
  };
}
