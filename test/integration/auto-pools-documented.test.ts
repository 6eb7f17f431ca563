import { beforeAll, expect, test, vi } from 'vitest';
import { CONFIG_MAPS, NAMESPACES, NODES, PODS } from '#pkg/kube/objects/core-resources.ts';
import { POOLS, RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import { STATEFUL_SETS } from '#pkg/kube/objects/sticky-owners.ts';
import { type AgentAtWork, type Pod, startAgentOf } from './pod-cluster.ts';
import { poolOf, sure } from './spider-objects.ts';
import { createPodOf, deployWithPods } from './stage-pods.ts';
import { asks, ipsOf, lead, NAMESPACE, PATIENCE, type SubnetStage, startSubnetStage } from './subnet-stage.ts';

/** What Spiderpool's pages on allocation say about subnets, from the annotation to the address of the pod. */

const IPPOOL = 'ipam.spidernet.io/ippool';
const IPPOOLS = 'ipam.spidernet.io/ippools';
const OF_NAMESPACE = 'ipam.spidernet.io/default-ipv4-ippool';

let stage: SubnetStage;
let one: AgentAtWork;
let two: AgentAtWork;

beforeAll(async () => {
  await using stack = new AsyncDisposableStack();
  stage = stack.use(await startSubnetStage());
  const { admin } = stage;
  await sure(admin.create(CONFIG_MAPS, { metadata: { name: 'ipledger-adopted', namespace: 'ipledger' } }));
  for (const [name, zone] of [
    ['worker-1', 'a'],
    ['worker-2', 'b'],
  ] as const) {
    await sure(admin.patch(NODES, { name }, { metadata: { labels: { zone } } }));
  }
  await stage.subnet('office', { subnet: '10.1.0.0/24', ips: ['10.1.0.10-10.1.0.99'] });
  for (const [third, name] of ['ippools', 'ippool', 'namespace', 'cni', 'default'].entries()) {
    const spec = { subnet: `10.2.${third}.0/24`, ips: [`10.2.${third}.10-10.2.${third}.19`] };
    await sure(admin.create(POOLS, poolOf(name, { ...spec, default: name === 'default' })));
  }
  const annotations = { [OF_NAMESPACE]: '["namespace"]' };
  await sure(admin.patch(NAMESPACES, { name: NAMESPACE }, { metadata: { annotations } }));
  const config = { enableIPv6: false };
  one = stack.use(await startAgentOf({ ledger: stage.cluster }, { config }));
  two = stack.use(await startAgentOf({ ledger: stage.cluster }, { config, node: 'worker-2' }));
  await Promise.all([one.untilReady(), two.untilReady()]);
  stack.use(await lead(stage));
  const everything = stack.move();
  return () => everything.disposeAsync();
});

const only = (addresses: readonly string[]) => {
  const [address, ...others] = addresses;
  if (address === undefined || others.length > 0) throw new Error(`one address expected: ${addresses}`);
  return address;
};

test('a subnet overrides every other source of pools: ippools, ippool, namespace, CNI configuration, default pool', async () => {
  const below = [
    [IPPOOLS, '[{"interface":"eth0","ipv4":["ippools"]}]'],
    [IPPOOL, '{"ipv4":["ippool"]}'],
  ] as const;
  const more = { defaultIPv4IPPool: ['cni'] };
  const first = await deployWithPods(stage, 'first', 1, { ...asks('office'), ...Object.fromEntries(below) });
  expect(only(await one.addressesOf(await first.pod(), more))).toMatch(/^10\.1\.0\./);
  // The three that pods and namespaces name would each have served it.
  const rest = await Promise.all(
    [below, below.slice(1), []].map((given, at) =>
      deployWithPods(stage, `below-${at}`, 1, Object.fromEntries(given)).then((it) => it.pod()),
    ),
  );
  const served = await Promise.all(rest.map(async (pod) => (await one.add(pod, more)).ips.map(({ ipPool }) => ipPool)));
  expect(served).toEqual([['ippools'], ['ippool'], ['namespace']]);
});

test('applications that name one subnet share it, each with a pool of its own: a full one takes no address of another', async () => {
  const small = await deployWithPods(stage, 'small', 1, asks('office'));
  const large = await deployWithPods(stage, 'large', 3, asks('office'));
  const inSmall = only(await one.addressesOf(await small.pod()));
  const inLarge = only(await two.addressesOf(await large.pod('worker-2')));
  const [ofSmall, ofLarge] = [await stage.poolWith('small', 1), await stage.poolWith('large', 3)];
  expect(ipsOf(ofSmall)).toEqual([inSmall]);
  expect(inLarge).not.toBe(inSmall);
  const surplus = await small.pod();
  expect(await one.refusal(surplus, { timeoutMs: 1_500 })).toMatchObject({
    reason: 'pools-exhausted',
    message: expect.stringContaining(`${ofSmall.metadata.name} 1/1 used`),
  });
  // Nor by the name of the other pool.
  const greedy = await deployWithPods(stage, 'greedy', 1, { [IPPOOL]: `{"ipv4":["${ofLarge.metadata.name}"]}` });
  expect((await one.refusal(await greedy.pod())).reason).toBe('no-eligible-pool');
});

test('no pool made from a subnet has its excluded or reserved addresses, or its gateway', async () => {
  await sure(stage.admin.create(RESERVED_IPS, { metadata: { name: 'printers' }, spec: { ips: ['10.3.0.14'] } }));
  await stage.subnet('holes', {
    subnet: '10.3.0.0/24',
    ips: ['10.3.0.10-10.3.0.19'],
    excludeIPs: ['10.3.0.12'],
    gateway: '10.3.0.17',
  });
  await stage.deploy('holes', 7, asks('holes'));
  expect(ipsOf(await stage.poolWith('holes', 7))).toEqual([
    '10.3.0.10-10.3.0.11',
    '10.3.0.13',
    '10.3.0.15-10.3.0.16',
    '10.3.0.18-10.3.0.19',
  ]);
});

test('a pod of a StatefulSet that starts again, also on another node, has the address that it had in the pool of its set', async () => {
  const annotations = asks('office');
  const template = {
    metadata: { labels: { app: 'x' }, annotations },
    spec: { containers: [{ name: 'main', image: 'main' }] },
  };
  const spec = { replicas: 3, serviceName: 'db', selector: { matchLabels: { app: 'x' } }, template };
  const set = await sure(stage.admin.create(STATEFUL_SETS, { metadata: { name: 'db', namespace: NAMESPACE }, spec }));
  const born = (ordinal: number, node = 'worker-1') =>
    createPodOf(stage, [STATEFUL_SETS, set], { name: `db-${ordinal}`, annotations, node });
  const pods = [await born(0), await born(1), await born(2)];
  const addresses = (await Promise.all(pods.map((pod) => one.addressesOf(pod)))).map(only);
  const pool = await stage.poolWith('db', 3);
  // The other order than that of the first start: nothing but the record says whose address it was.
  for (const pod of pods) await end(pod);
  for (const [ordinal, node, agent] of [
    [2, 'worker-2', two],
    [0, 'worker-1', one],
    [1, 'worker-2', two],
  ] as const) {
    expect(only(await agent.addressesOf(await born(ordinal, node)))).toBe(addresses[ordinal]);
  }
  expect((await stage.poolWith('db', 3)).metadata.uid).toBe(pool.metadata.uid);
});

/** As kubelet does it: the object is removed, then the sandbox is gone. */
async function end(pod: Pod): Promise<void> {
  await sure(stage.admin.delete(PODS, pod));
  await vi.waitUntil(async () => (await one.tryAdd(pod)).status !== 200, PATIENCE);
  await one.del(pod);
}

test('replicas of one application on nodes of two networks have addresses of two subnets', async () => {
  for (const [name, third, zone] of [
    ['rack-a', 4, 'a'],
    ['rack-b', 5, 'b'],
  ] as const) {
    const spec = { subnet: `10.${third}.0.0/24`, ips: [`10.${third}.0.10-10.${third}.0.99`] };
    await stage.subnet(name, spec);
    const nodeAffinity = { matchLabels: { zone } };
    await sure(
      stage.admin.create(POOLS, poolOf(name, { ...spec, ips: [`10.${third}.0.10-10.${third}.0.19`], nodeAffinity })),
    );
  }
  const spread = await deployWithPods(stage, 'spread', 4, { [IPPOOL]: '{"ipv4":["rack-a","rack-b"]}' });
  const served = async (agent: AgentAtWork, node: string) => only(await agent.addressesOf(await spread.pod(node)));
  for (let pair = 0; pair < 2; pair += 1) {
    expect(await served(one, 'worker-1')).toMatch(/^10\.4\.0\./);
    expect(await served(two, 'worker-2')).toMatch(/^10\.5\.0\./);
  }
});
