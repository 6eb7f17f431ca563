import { expect, test } from 'vitest';
import { VERSION } from '#pkg/text/version.ts';
import { renewChart, untilRolledOut } from '#test/real-cluster/install.ts';
import { CHART, mustHelm, runHelm } from '#test/support/helm.ts';
import { kubectl } from '#test/support/manifests.ts';
import { runningImages, tagImage } from './daemon-images.ts';
import { importState } from './import-state.ts';
import type { Pod } from './kube-calls.ts';
import { type NodeStage, openStage } from './stage.ts';
import { until } from './until.ts';
import { deployment, pod, statefulSet } from './workloads.ts';

const NAMESPACE = '--namespace=ipledger';

const byName = (pods: readonly Pod[]) =>
  Object.fromEntries(pods.map(({ metadata, status }) => [metadata.name, status.podIP]));

test('upgrade and rollback replace all daemons under live pods; uninstall refuses, and says who is in the way', async () => {
  await using stage = await openStage('chart', ['10.88.30.1-10.88.30.20']);
  const { kube, path } = stage;
  const { server } = stage.cluster;
  await kube.create(path('statefulsets'), statefulSet('db', 2));
  await kube.create(path('deployments'), deployment('web', 4));
  const before = byName(await stage.running(6));
  await using _ = { [Symbol.asyncDispose]: () => bringBack(stage) };

  await tagImage(stage.cluster, VERSION, 'next');
  await mustHelm(server, 'upgrade', 'ipledger', CHART, '--reuse-values', '--set=image.tag=next');
  await kube.patch(path('deployments', 'web'), { spec: { replicas: 8 } });
  await untilRolledOut(server);
  expect(await runningImages(kube)).toEqual(['ipledger:next']);
  expect(byName(await stage.running(10))).toMatchObject(before);
  await stage.settle();

  await mustHelm(server, 'rollback', 'ipledger');
  await kube.remove(path('pods', 'db-0'));
  await untilRolledOut(server);
  expect(await runningImages(kube)).toEqual([`ipledger:${VERSION}`]);
  expect(byName(await stage.running(10))).toMatchObject(before);
  await stage.settle();

  const refused = await runHelm(server, 'uninstall', 'ipledger');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('ipledger-uninstall failed') });
  const said = await kubectl(server, ['logs', 'job/ipledger-uninstall', NAMESPACE]);
  expect(said).toContain(before['db-0']);
  expect(said).toContain('are in use');
  // helm counts it as being uninstalled now, and upgrades nothing before a rollback to the same revision.
  const [, revision = ''] = /^REVISION: (\d+)$/m.exec(await mustHelm(server, 'status', 'ipledger')) ?? [];
  await mustHelm(server, 'rollback', 'ipledger', revision);
  expect(await mustHelm(server, 'status', 'ipledger')).toContain('STATUS: deployed');
  await mustHelm(server, 'upgrade', 'ipledger', CHART, '--reuse-values');
  await untilRolledOut(server);
  expect(byName(await stage.running(10))).toMatchObject(before);
});

test('what ipledger leaves behind is a state of Spiderpool, and from that state it takes over live pods', async () => {
  await using stage = await openStage('migration', ['10.88.31.1-10.88.31.20']);
  const { kube, path } = stage;
  const { server, nodes } = stage.cluster;
  await kube.create(path('statefulsets'), statefulSet('db', 2));
  await kube.create(path('deployments'), deployment('web', 4));
  const before = byName(await stage.running(6));
  const held = await holdersOf(stage);
  await using _ = { [Symbol.asyncDispose]: () => bringBack(stage) };

  // The way back, as docs/cluster.md says it.
  await kubectl(server, ['delete', 'daemonset/ipledger-agent', NAMESPACE]);
  await until('the status of the pool has all addresses', async () => {
    const { status } = await kube.read<SpiderPool>(`${POOLS}/migration`);
    const shown = Object.keys(JSON.parse(status?.allocatedIPs ?? '{}'));
    return shown.toSorted().join() === Object.values(before).toSorted().join();
  });
  await mustHelm(server, 'uninstall', 'ipledger', '--no-hooks');
  await kubectl(server, ['delete', 'configmap/ipledger-adopted', NAMESPACE]);
  await kubectl(server, ['delete', 'iprecords', '--all']);
  // Nodes that have never had an agent of ours.
  for (const node of nodes) await stage.cluster.runIn(node, 'rm -rf /var/lib/ipledger');

  await renewChart(server, nodes.length);
  await kube.create(path('pods'), pod('early'));
  expect(await stage.records()).toEqual([]);
  expect(await importState(stage.cluster.server)).toMatchObject({ code: 0 });
  await untilRolledOut(server);
  expect(await holdersOf(stage)).toMatchObject(held);
  const seven = await stage.running(7);
  expect(byName(seven)).toMatchObject(before);
  expect(new Set(Object.values(byName(seven))).size).toBe(7);

  await kube.remove(path('pods', 'db-0'));
  const first = seven.find(({ metadata }) => metadata.name === 'db-0');
  await until(
    'db-0 is a new pod',
    async () => (await kube.read(path('pods', 'db-0'))).metadata.uid !== first?.metadata.uid,
  );
  expect(byName(await stage.running(7))['db-0']).toBe(before['db-0']);
  // Nobody knows the sandboxes that Spiderpool served: an operator need not wait until their addresses are probed.
  await kubectl(server, ['delete', 'deployment/web', 'statefulset/db', `--namespace=${stage.namespace}`]);
  await stage.running(1);
  const left = (await stage.records()).filter(({ spec }) => spec.holder.name !== 'early');
  for (const { metadata } of left) await kube.remove(`/apis/ipledger.io/v1alpha1/iprecords/${metadata.name}`);
  await stage.settle();
});

const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';

interface SpiderPool {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status?: { readonly allocatedIPs?: string };
}

/** Who has each address, without what only the runtime knows. */
async function holdersOf({ records }: NodeStage): Promise<Readonly<Record<string, object>>> {
  const entries = (await records()).map(({ spec: { address, holder } }) => {
    const { kind, namespace, name, uid, node } = holder;
    return [address, { kind, namespace, name, uid, node, interface: holder.interface }] as const;
  });
  return Object.fromEntries(entries);
}

/** Whatever happened before, the other tests find an installed ipledger. */
async function bringBack(stage: NodeStage): Promise<void> {
  await renewChart(stage.cluster.server, stage.cluster.nodes.length);
  await importState(stage.cluster.server);
  await untilRolledOut(stage.cluster.server);
}
