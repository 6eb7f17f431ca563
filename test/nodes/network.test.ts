import { expect, test } from 'vitest';
import type { Pod } from './kube-calls.ts';
import { type NodeStage, openStage } from './stage.ts';
import { until } from './until.ts';
import { deployment, pod } from './workloads.ts';

test('dual-stack pods on different nodes reach each other and the gateway in both families', async () => {
  await using stage = await openStage('dual', ['10.88.7.1-10.88.7.10']);
  await stage.createPool('dual-v6', { subnet: 'fd88::/64', ips: ['fd88::7:1-fd88::7:a'], gateway: 'fd88::1' });
  await stage.kube.create(stage.path('deployments'), deployment('web', 3));
  const pods = await stage.running(3);
  const [from, to] = pods;
  expect(from?.status.podIPs).toHaveLength(2);
  expect(from?.spec.nodeName).not.toBe(to?.spec.nodeName);
  const targets = [...(to?.status.podIPs ?? []).map(({ ip }) => ip), '10.88.0.1', 'fd88::1'];
  for (const target of targets) await ping(stage, from, target);
  await stage.settle();
});

test('an address that a foreign host uses is not given out, and the pod gets the next one', async () => {
  const annotations = { 'ipledger.io/detect-ip-conflict': 'true' };
  await using stage = await openStage('conflict', ['10.88.8.1-10.88.8.2'], { annotations });
  // The nodes of the pool take turns, so either address may be tried first: both are asked for.
  const foreign = await stage.cluster.foreignHost('10.88.8.1/32');
  await using _ = foreign;
  await stage.kube.create(stage.path('deployments'), deployment('web', 2));
  expect(await stage.event('IPAddressConflict')).toContain('10.88.8.1');
  expect((await stage.record('10.88.8.1')).spec.state).toBe('Quarantined');
  const served = await until('one pod runs', async () => (await stage.pods()).find(({ status }) => status.podIP));
  expect(served.status.podIP).toBe('10.88.8.2');
  await stage.settle();
  // A quarantine lasts longer than this test.
  await stage.kube.remove('/apis/ipledger.io/v1alpha1/iprecords/10.88.8.1');
});

test('a pod whose gateway is dead gets no address, and is told', async () => {
  const annotations = { 'ipledger.io/detect-gateway': 'true' };
  await using stage = await openStage('gateway', ['10.88.9.1-10.88.9.4'], { annotations, gateway: '10.88.99.99' });
  await stage.kube.create(stage.path('pods'), pod('lonely'));
  expect(await stage.event('GatewayUnreachable')).toContain('10.88.99.99');
  const gateway = await stage.cluster.foreignHost('10.88.99.99/32');
  await using _ = gateway;
  await stage.running(1);
  await stage.settle();
});

test('a pod with two NICs has an address on each, whatever order a delegating plugin writes its arguments in', async () => {
  await using stage = await openStage('two-nics', ['10.88.20.1-10.88.20.10']);
  await stage.createPool('two-nics-storage', { subnet: '10.89.0.0/16', ips: ['10.89.0.1-10.89.0.10'], default: false });
  const wanted = [
    { interface: 'eth0', ipv4: ['two-nics'] },
    { interface: 'net1', ipv4: ['two-nics-storage'] },
  ];
  const annotations = { 'ipam.spidernet.io/ippools': JSON.stringify(wanted) };
  const spec = { runtimeClassName: 'two-nics' };
  await stage.kube.create(stage.path('deployments'), deployment('web', 4, { annotations, spec }));
  await stage.running(4);
  await stage.settle();
  const links = (await stage.records()).map(({ spec: { holder, pool } }) => `${holder.interface} of ${pool.name}`);
  expect(links.toSorted()).toEqual([
    ...Array.from({ length: 4 }, () => 'eth0 of two-nics'),
    ...Array.from({ length: 4 }, () => 'net1 of two-nics-storage'),
  ]);
});

/** From inside the pod; the first packet may be lost to neighbour discovery. */
async function ping({ cluster, records }: NodeStage, pod: Pod | undefined, target: string): Promise<void> {
  const [record] = (await records()).filter(({ spec }) => spec.holder.uid === pod?.metadata.uid);
  const netns = record?.spec.holder.netns;
  await until(`${pod?.metadata.name} reaches ${target}`, () =>
    cluster.runIn(pod?.spec.nodeName ?? '', `nsenter --net=${netns} ping -c 1 -W 2 ${target}`),
  );
}
