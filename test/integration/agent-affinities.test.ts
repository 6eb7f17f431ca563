import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

const DEFAULT_NETWORK = 'v1.multus-cni.io/default-network';
const NETWORKS = 'k8s.v1.cni.cncf.io/networks';

let cluster: PodCluster;
/** The agents of worker-1 and worker-2. */
let one: AgentAtWork;
let two: AgentAtWork;
let made = 0;

const labelled = (labels: Readonly<Record<string, string>>) => ({ matchLabels: labels });
const AFFINITIES = {
  nodeName: { a: ['worker-1'], b: ['worker-2'] },
  nodeAffinity: { a: labelled({ zone: 'a' }), b: labelled({ zone: 'b' }) },
  namespaceName: { a: ['team-a'], b: ['team-b'] },
  namespaceAffinity: { a: labelled({ team: 'a' }), b: labelled({ team: 'b' }) },
  podAffinity: { a: labelled({ app: 'a' }), b: labelled({ app: 'b' }) },
  multusName: { a: ['infra/net-a'], b: ['infra/net-b'] },
};
type Affinity = keyof typeof AFFINITIES;
const poolOf = (affinity: Affinity, side: 'a' | 'b') => `${affinity.toLowerCase()}-${side}`;

beforeAll(async () => {
  cluster = await startPodCluster();
  for (const [side, node] of [
    ['a', 'worker-1'],
    ['b', 'worker-2'],
  ] as const) {
    await cluster.patch(`/api/v1/nodes/${node}`, { metadata: { labels: { zone: side } } });
    await cluster.post('/api/v1/namespaces', { metadata: { name: `team-${side}`, labels: { team: side } } });
  }
  let second = 0;
  const create = async (name: string, more: object) => {
    second += 1;
    const ips = [`10.${second}.0.10-10.${second}.0.99`];
    await cluster.createPool(name, { subnet: `10.${second}.0.0/24`, ips, ...more });
  };
  await create('plain', {});
  for (const [affinity, sides] of Object.entries(AFFINITIES) as [Affinity, { a: object; b: object }][]) {
    for (const side of ['a', 'b'] as const) await create(poolOf(affinity, side), { [affinity]: sides[side] });
  }
  for (const [name, multusName] of [
    ['blue', 'infra/blue'],
    ['green', 'team-a/green'],
    ['red', 'red'],
  ] as const) {
    await create(name, { multusName: [multusName], default: true });
  }
  const config = { enableIPv6: false };
  one = await startAgentOf(cluster, { config, variables: { MULTUS_CLUSTER_NETWORK: 'infra/blue' } });
  two = await startAgentOf(cluster, { config, node: 'worker-2', variables: { IPLEDGER_MULTUS_NAMESPACE: 'spider' } });
  await Promise.all([one.untilReady(), two.untilReady()]);
});
afterAll(async () => {
  await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()]);
  await cluster[Symbol.asyncDispose]();
});
afterEach(() => cluster.ledger.clear());

/** A pod that is `side` in every respect: its node, namespace, labels and network. */
function podOf(side: 'a' | 'b', annotations: Readonly<Record<string, string>> = {}): Promise<Pod> {
  made += 1;
  return cluster.createPod({
    name: `pod-${made}`,
    namespace: `team-${side}`,
    node: side === 'a' ? 'worker-1' : 'worker-2',
    labels: { app: side },
    annotations,
  });
}

async function poolServing(agent: AgentAtWork, pod: Pod, ifName: string, ...names: string[]): Promise<string[]> {
  const listed = names.length === 0 ? {} : { defaultIPv4IPPool: names };
  const { ips } = await agent.add(pod, { ifName, ...listed });
  return ips.filter(({ nic }) => nic === ifName).map(({ ipPool }) => ipPool);
}

test.each(Object.keys(AFFINITIES).map((affinity) => ({ affinity: affinity as Affinity })))(
  '$affinity: a pod gets the pool that is meant for it before one for all, and never the one for others',
  async ({ affinity }) => {
    const [forA, forB] = [poolOf(affinity, 'a'), poolOf(affinity, 'b')];
    const names = ['plain', forA, forB];
    const a = await podOf('a', { [DEFAULT_NETWORK]: 'infra/net-a' });
    const b = await podOf('b', { [DEFAULT_NETWORK]: 'infra/net-b' });
    expect(await poolServing(one, a, 'eth0', ...names)).toEqual([forA]);
    expect(await poolServing(two, b, 'eth0', ...names)).toEqual([forB]);
    const other = await podOf('a', { [DEFAULT_NETWORK]: 'infra/net-a' });
    const { reason, details } = await one.refusal(other, { defaultIPv4IPPool: [forB] });
    expect([reason, details]).toEqual([
      'no-eligible-pool',
      expect.stringMatching(new RegExp(`^${forB}: .*${affinity} \\[`)),
    ]);
  },
);

test('labels of node and namespace are followed while the agent runs', async () => {
  const names = ['nodeaffinity-b', 'namespaceaffinity-b'];
  const label = async (node: string, team: string) => {
    await cluster.patch('/api/v1/nodes/worker-1', { metadata: { labels: { zone: node } } });
    await cluster.patch('/api/v1/namespaces/team-a', { metadata: { labels: { team } } });
  };
  expect((await one.refusal(await podOf('a'), { defaultIPv4IPPool: names })).reason).toBe('no-eligible-pool');
  try {
    await label('b', 'b');
    for (const name of names) {
      const pod = await podOf('a');
      await vi.waitUntil(async () => (await one.tryAdd(pod, { defaultIPv4IPPool: [name] })).status === 200, 20_000);
    }
  } finally {
    await label('a', 'a');
  }
});

describe('the Multus network of an interface', () => {
  test('a live pod: eth0 is of the cluster network, net1 of the first network of its annotation', async () => {
    const pod = await podOf('a', { [NETWORKS]: 'green' });
    expect(await poolServing(one, pod, 'eth0')).toEqual(['blue']);
    const { ips } = await one.add(pod, { ifName: 'net1' });
    expect(ips.map(({ nic, ipPool }) => [nic, ipPool])).toEqual([
      ['eth0', 'blue'],
      ['net1', 'green'],
    ]);
    const records = await cluster.records();
    expect(records.map(({ spec }) => [spec.holder.interface, spec.pool.name])).toEqual([
      ['eth0', 'blue'],
      ['net1', 'green'],
    ]);
  });

  test.each<{ name: string; annotations: Record<string, string>; ifName: string; pool: string; side?: 'a' | 'b' }>([
    {
      name: 'the default network that a pod chooses, in the namespace of the agent',
      annotations: { [DEFAULT_NETWORK]: 'red' },
      ifName: 'eth0',
      pool: 'red',
    },
    {
      name: 'the second of a list',
      annotations: { [NETWORKS]: 'infra/blue, ipledger/red' },
      ifName: 'net2',
      pool: 'red',
    },
    {
      name: 'one with an interface of its own name',
      annotations: { [NETWORKS]: '[{"name":"blue","namespace":"infra"},{"name":"green","interface":"lan"}]' },
      ifName: 'lan',
      pool: 'green',
    },
    {
      name: 'the namespace of a pool that names none, where MULTUS_NAMESPACE says',
      annotations: { [NETWORKS]: 'spider/red' },
      ifName: 'net1',
      pool: 'red',
      side: 'b',
    },
  ])('$name', async ({ annotations, ifName, pool, side = 'a' }) => {
    const pod = await podOf(side, annotations);
    expect(await poolServing(side === 'a' ? one : two, pod, ifName)).toEqual([pool]);
  });

  test('that is unknown is an error that says where it would come from', async () => {
    const eth0 = await two.refusal(await podOf('b'));
    expect([eth0.reason, eth0.details]).toEqual([
      'no-eligible-pool',
      expect.stringContaining(`blue: Multus network of eth0 is unknown (the pod has no annotation ${DEFAULT_NETWORK}`),
    ]);
    const net1 = await one.refusal(await podOf('a'), { ifName: 'net1' });
    expect(net1.details).toContain(`green: Multus network of net1 is unknown (the pod has no annotation ${NETWORKS})`);
    expect(await cluster.records()).toEqual([]);
  });
});
