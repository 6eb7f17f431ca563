import { expect, test } from 'vitest';
import { openStage } from './stage.ts';
import { until } from './until.ts';
import { deployment, job, pod, statefulSet } from './workloads.ts';

const addressOf = ({ status }: { status: { podIP?: string } }) => status.podIP ?? '';

test('a pool that fits a Deployment exactly serves it on all nodes, tells the pod too many, and carries a rolling update', async () => {
  await using stage = await openStage('exact-fit', ['10.88.1.1-10.88.1.6']);
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 2 } };
  await stage.kube.create(stage.path('deployments'), deployment('web', 6, { strategy }));
  const first = await stage.running(6);
  expect(first.map(addressOf).toSorted()).toEqual([
    '10.88.1.1',
    '10.88.1.2',
    '10.88.1.3',
    '10.88.1.4',
    '10.88.1.5',
    '10.88.1.6',
  ]);
  expect(new Set(first.map(({ spec }) => spec.nodeName))).toEqual(new Set(stage.cluster.nodes));
  await stage.settle();

  await stage.kube.patch(stage.path('deployments', 'web'), { spec: { replicas: 7 } });
  expect(await stage.event('IPPoolExhausted')).toContain('6/6');

  await stage.kube.patch(stage.path('deployments', 'web'), {
    spec: { replicas: 6, template: { metadata: { labels: { version: '2' } } } },
  });
  await until('all pods are new', async () => {
    const pods = await stage.running(6);
    return pods.every(({ metadata }) => metadata.labels?.['version'] === '2');
  });
  await stage.settle();
});

test('pods of a StatefulSet keep their addresses through deletion and scaling, on whatever node', async () => {
  await using stage = await openStage('sticky', ['10.88.2.1-10.88.2.20']);
  await stage.kube.create(stage.path('statefulsets'), statefulSet('db', 3));
  const addresses = async () =>
    Object.fromEntries((await stage.running(3)).map((pod) => [pod.metadata.name, addressOf(pod)]));
  const first = await addresses();
  expect(new Set(Object.values(first)).size).toBe(3);

  const [before] = await stage.running(3);
  for (const name of Object.keys(first)) await stage.kube.remove(stage.path('pods', name));
  await until('all pods are new', async () => {
    const pods = await stage.running(3);
    return pods.every(({ metadata }) => metadata.uid !== before?.metadata.uid);
  });
  expect(await addresses()).toEqual(first);
  await stage.settle();

  await stage.kube.patch(stage.path('statefulsets', 'db'), { spec: { replicas: 2 } });
  await stage.running(2);
  await until('the address of db-2 is free', async () => (await stage.records()).length === 2);
  await stage.kube.patch(stage.path('statefulsets', 'db'), { spec: { replicas: 3 } });
  expect(await addresses()).toMatchObject({ 'db-0': first['db-0'], 'db-1': first['db-1'] });
  await stage.settle();
});

test('pods that finish give their addresses back while their objects stay, and evicted pods too', async () => {
  await using stage = await openStage('ending', ['10.88.3.1-10.88.3.4']);
  await stage.kube.create(stage.path('jobs'), job('sum', 8, 4));
  await until('8 pods have succeeded', async () => {
    const pods = await stage.pods();
    return pods.filter(({ status }) => status.phase === 'Succeeded').length === 8;
  });
  await until('no address is held', async () => (await stage.records()).length === 0);

  await stage.kube.create(stage.path('pods'), pod('guest'));
  await until('the guest runs', async () => (await stage.pods()).some(({ status }) => status.phase === 'Running'));
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'guest', namespace: stage.namespace },
  };
  await stage.kube.create(`${stage.path('pods', 'guest')}/eviction`, eviction);
  await until('no address is held', async () => (await stage.records()).length === 0);
});
