import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findClusterPrograms } from '#test/real-cluster/assets.ts';
import type { ReachedCluster } from '#test/real-cluster/cluster-place.ts';
import { renewChart, SHIPPED, untilRolledOut } from '#test/real-cluster/install.ts';
import { CRD_CHART, mustHelm } from '#test/support/helm.ts';
import { kubectl } from '#test/support/manifests.ts';
import { delsAt } from './dels-at.ts';
import { importState } from './import-state.ts';
import type { Pod } from './kube-calls.ts';
import { startOwnCluster } from './own-cluster.ts';
import { type NodeStage, openStage } from './stage.ts';
import { until } from './until.ts';
import { pod, statefulSet } from './workloads.ts';

const NODE = 'n1';
const ENDPOINTS = '/apis/spiderpool.spidernet.io/v2beta1/namespaces/spider/spiderendpoints';
const SPIDERPOOL = '/opt/cni/bin/spiderpool';
const IPLEDGER = '/opt/cni/bin/ipledger';

const byUid = (pods: readonly Pod[]) =>
  Object.fromEntries(pods.map(({ metadata, status }) => [metadata.uid, `${metadata.name} ${status.podIP}`]));

test('pods of Spiderpool live through the switch, and our plugin ends them under the name spiderpool', async () => {
  await using cluster = await startOwnCluster(1, { spiderpool: true });
  const { server } = cluster;
  await until('the node is Ready', async () => {
    return (await kubectl(server, ['wait', '--for=condition=Ready', `node/${NODE}`, '--timeout=10s'])) !== '';
  });
  await mustHelm(server, 'install', 'ipledger-crds', CRD_CHART, '--create-namespace');
  await using stage = await openStage('spider', ['10.88.221.1-10.88.221.30'], { cluster });
  const { kube, path } = stage;
  await kube.create(path('statefulsets'), statefulSet('db', 2));
  for (const name of ['stopped', 'forced']) await kube.create(path('pods'), pod(name));
  const before = await stage.running(4);
  const addressOf = (name: string) => before.find(({ metadata }) => metadata.name === name)?.status.podIP ?? '';
  await writeStateOfSpiderpool(stage, before);
  await expect(cluster.runIn(NODE, `cmp ${SPIDERPOOL} ${IPLEDGER}`)).rejects.toThrow();

  // As docs/cluster.md says it for Helm.
  await renewChart(server, 1, { ...SHIPPED, asSpiderpool: 'always' });
  await until('the plugin has taken the name', async () => {
    await cluster.runIn(NODE, `cmp ${SPIDERPOOL} ${IPLEDGER}`);
    return true;
  });
  // The API server may still prepare the new kind.
  expect(await until('records can be listed', () => stage.records())).toEqual([]);
  expect(await importState(server)).toMatchObject({ code: 0 });
  await untilRolledOut(server);
  expect(byUid(await stage.running(4))).toEqual(byUid(before));
  const held = (await stage.records()).map(({ spec: { address, holder, state } }) => [address, holder.uid, state]);
  expect(held.toSorted()).toEqual(
    before.map(({ metadata, status }) => [status.podIP, metadata.uid, 'Allocated']).toSorted(),
  );

  // Its object is gone before its sandbox: the DEL gives the address back.
  await kube.remove(path('pods', 'forced'), { gracePeriodSeconds: 0 });
  await until('the DEL has given the address back', async () => {
    return !(await stage.records()).some(({ spec }) => spec.address === addressOf('forced'));
  });

  // Its DEL comes while the object is there, and may be of an older sandbox: it ends the pod, and gives nothing back.
  const sandbox = await sandboxOf(cluster, before, 'stopped');
  await kube.remove(path('pods', 'stopped'));
  await stage.running(2);
  await until('the DEL has arrived', async () => (await delsAt(cluster, NODE, sandbox)).length > 0);
  expect((await stage.record(addressOf('stopped'))).spec.holder.name).toBe('stopped');
  await kube.remove(`/apis/ipledger.io/v1alpha1/iprecords/${addressOf('stopped')}`);

  // The next pods of the set get their addresses from our plugin under that name, and it gives them back.
  for (const name of ['db-0', 'db-1']) await kube.remove(path('pods', name));
  await until('both are new pods', async () => {
    const pods = await stage.pods();
    return pods.length === 2 && pods.every(({ metadata }) => byUid(before)[metadata.uid] === undefined);
  });
  const after = await stage.running(2);
  const namesOf = (pods: readonly Pod[]) => Object.values(byUid(pods)).toSorted();
  expect(namesOf(after)).toEqual(namesOf(before.filter(({ metadata }) => metadata.name.startsWith('db-'))));
  await kube.create(path('pods'), pod('new'));
  await stage.running(3);
  await stage.settle();
  await kube.remove(path('pods', 'new'));
  await until('its address is back', async () => (await stage.records()).length === 2);
  await stage.settle();
});

/** What Spiderpool writes for each pod: an entry in the status of the pool, and an endpoint. */
async function writeStateOfSpiderpool({ cluster, kube }: NodeStage, pods: readonly Pod[]): Promise<void> {
  const entries = pods.map(({ metadata, status }) => [
    status.podIP,
    { pod: `spider/${metadata.name}`, podUid: metadata.uid },
  ]);
  const status = { allocatedIPs: JSON.stringify(Object.fromEntries(entries)), allocatedIPCount: entries.length };
  const patch = `--patch=${JSON.stringify({ status })}`;
  await kubectl(cluster.server, ['patch', 'spiderippool', 'spider', '--subresource=status', '--type=merge', patch]);
  for (const it of pods) await kube.create(ENDPOINTS, endpointOf(it));
}

/** That of a StatefulSet's pod outlives it, so it has no owner. */
function endpointOf({ metadata: { name, uid }, status }: Pod): object {
  const isSticky = name.startsWith('db-');
  const ips = [
    { interface: 'eth0', ipv4: `${status.podIP}/16`, ipv4Pool: 'spider', ipv4Gateway: '10.88.0.1', vlan: 0 },
  ];
  return {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderEndpoint',
    metadata: {
      name,
      finalizers: ['spiderpool.spidernet.io'],
      ...(isSticky ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }] }),
    },
    status: {
      ownerControllerType: isSticky ? 'StatefulSet' : 'Pod',
      ownerControllerName: isSticky ? 'db' : name,
      current: { uid, node: NODE, ips },
    },
  };
}

/** The ID of its sandbox, from containerd. */
async function sandboxOf(cluster: ReachedCluster, pods: readonly Pod[], name: string): Promise<string> {
  const uid = pods.find(({ metadata }) => metadata.name === name)?.metadata.uid ?? '';
  const ctr = `${join((await findClusterPrograms()).dir, 'ctr')} --namespace=k8s.io`;
  const filter = `'labels."io.kubernetes.pod.uid"==${uid},labels."io.cri-containerd.kind"==sandbox'`;
  const id = (await cluster.runIn(NODE, `${ctr} containers list --quiet ${filter}`)).trim();
  expect(id).toMatch(/^[0-9a-f]{64}$/);
  return id;
}
