import { expect, test } from 'vitest';
import { delsAt } from './dels-at.ts';
import type { Pod } from './kube-calls.ts';
import { type NodeStage, openStage } from './stage.ts';
import { until } from './until.ts';
import { deployment, statefulSet } from './workloads.ts';

const byName = (pods: readonly Pod[]) =>
  Object.fromEntries(pods.map(({ metadata, status }) => [metadata.name, status.podIP]));

test('a pod of a StatefulSet takes its address to another node, and the crashed node does not take it back', async () => {
  await using stage = await openStage('crash', ['10.88.4.1-10.88.4.10']);
  await stage.kube.create(stage.path('statefulsets'), statefulSet('db', 3));
  const before = await stage.running(3);
  const victim = before[1];
  const node = victim?.spec.nodeName ?? '';
  const name = victim?.metadata.name ?? '';
  const address = victim?.status.podIP ?? '';
  const { containerID = '' } = (await stage.record(address)).spec.holder;

  await cordon(stage, node, true);
  await stage.cluster.act({ do: 'crash', node });
  await stage.kube.remove(stage.path('pods', name), { gracePeriodSeconds: 0 });
  await until(`${name} runs on another node`, async () => {
    const pod = await stage.kube.read<Pod>(stage.path('pods', name));
    return pod.metadata.uid !== victim?.metadata.uid && pod.status.phase === 'Running';
  });
  const moved = await stage.kube.read<Pod>(stage.path('pods', name));
  expect(moved.status.podIP).toBe(address);
  expect(moved.spec.nodeName).not.toBe(node);
  const taken = await stage.record(address);
  expect(taken.spec.holder).toMatchObject({ uid: moved.metadata.uid, node: moved.spec.nodeName });
  expect(await delsAt(stage.cluster, moved.spec.nodeName ?? '', containerID)).toEqual([]);

  // Its containerd finds the old sandbox on its disk, and sends a DEL for the pod of the same name.
  await stage.cluster.act({ do: 'boot', node });
  await until('the DEL of the old sandbox has arrived', async () => {
    return (await delsAt(stage.cluster, node, containerID)).length > 0;
  });
  await cordon(stage, node, false);
  await nodesReady(stage);
  expect(byName(await stage.running(3))).toEqual(byName(before));
  await stage.settle();
  expect(await stage.record(address)).toEqual(taken);
});

test('after a power cut of all nodes the primary network comes back, with one address for each pod', async () => {
  await using stage = await openStage('blackout', ['10.88.5.1-10.88.5.20']);
  await stage.kube.create(stage.path('statefulsets'), statefulSet('db', 3));
  await stage.kube.create(stage.path('deployments'), deployment('web', 6));
  const before = await stage.running(9);
  await Promise.all(stage.cluster.nodes.map((node) => stage.cluster.act({ do: 'crash', node })));
  await Promise.all(stage.cluster.nodes.map((node) => stage.cluster.act({ do: 'boot', node })));
  await nodesReady(stage);
  await until('all containers were started again', async () => {
    const pods = await stage.running(9);
    return pods.every(({ status }) => status.containerStatuses?.every(({ restartCount }) => restartCount > 0));
  });
  await stage.settle();
  const after = byName(await stage.running(9));
  const sticky = before.filter(({ metadata }) => metadata.name.startsWith('db-'));
  expect(after).toMatchObject(byName(sticky));
});

async function cordon({ kube }: NodeStage, node: string, unschedulable: boolean): Promise<void> {
  await kube.patch(`/api/v1/nodes/${node}`, { spec: { unschedulable } });
}

async function nodesReady({ kube }: NodeStage): Promise<void> {
  await until('all nodes are Ready', async () => {
    const nodes = await kube.list<Pod>('/api/v1/nodes');
    return nodes.every(({ status }) =>
      status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
    );
  });
}
