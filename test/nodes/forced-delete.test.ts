import { expect, test } from 'vitest';
import { openStage } from './stage.ts';
import { until } from './until.ts';
import { deployment, pod } from './workloads.ts';

const MACVLAN = '/opt/cni/bin/macvlan';
const IPLEDGER = '/opt/cni/bin/ipledger';

test('an address is not given to another pod while the sandbox of a pod that was deleted by force still answers', async () => {
  await using stage = await openStage('forced', ['10.88.6.1']);
  const { cluster, kube } = stage;
  await kube.create(stage.path('deployments'), deployment('only', 1));
  const [first] = await stage.running(1);
  const node = first?.spec.nodeName ?? '';

  // Without its main plugin the runtime cannot tear the sandbox down.
  await cluster.runIn(node, `mv ${MACVLAN} ${MACVLAN}.away`);
  await using _ = {
    [Symbol.asyncDispose]: () => cluster.runIn(node, `mv -f ${MACVLAN}.away ${MACVLAN} || true`).then(() => {}),
  };
  await kube.patch(`/api/v1/nodes/${node}`, { spec: { unschedulable: true } });
  await kube.remove(stage.path('pods', first?.metadata.name), { gracePeriodSeconds: 0 });
  await until('the record is in doubt', async () => (await stage.record('10.88.6.1')).spec.state === 'Suspect');
  // The next pod probes the address, and hears the sandbox.
  await stage.event('IPPoolExhausted');
  expect((await stage.record('10.88.6.1')).spec.holder.uid).toBe(first?.metadata.uid);

  await cluster.runIn(node, `mv ${MACVLAN}.away ${MACVLAN}`);
  await kube.patch(`/api/v1/nodes/${node}`, { spec: { unschedulable: false } });
  const [second] = await stage.running(1);
  expect(second?.status.podIP).toBe('10.88.6.1');
  await stage.settle();
});

test('an address stays taken while the plugin is missing and no DEL can come, and is free soon after it is back', async () => {
  await using stage = await openStage('no-plugin', ['10.88.6.10']);
  const { cluster, kube } = stage;
  await kube.create(stage.path('pods'), pod('first'));
  const [first] = await stage.running(1);
  const node = first?.spec.nodeName ?? '';

  await cluster.runIn(node, `mv ${IPLEDGER} ${IPLEDGER}.away`);
  await using _ = {
    [Symbol.asyncDispose]: () => cluster.runIn(node, `mv -f ${IPLEDGER}.away ${IPLEDGER} || true`).then(() => {}),
  };
  await kube.remove(stage.path('pods', 'first'));
  expect(await stage.event('FailedKillPod')).toContain('ipledger');
  expect((await stage.record('10.88.6.10')).spec.holder.uid).toBe(first?.metadata.uid);

  await cluster.runIn(node, `mv ${IPLEDGER}.away ${IPLEDGER}`);
  await until('no address is held', async () => (await stage.records()).length === 0);
  await stage.settle();
});
