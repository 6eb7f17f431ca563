import { expect, test } from 'vitest';
import { kubeCalls, type Pod } from './kube-calls.ts';
import { sharedCluster } from './shared-cluster.ts';
import { until } from './until.ts';

test('a node whose agent does not answer is NotReady until it does', async () => {
  const cluster = sharedCluster();
  const kube = kubeCalls(cluster.server);
  const isReady = async () => {
    const { status } = await kube.read<Pod>('/api/v1/nodes/n3');
    return status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;
  };
  expect(await isReady()).toBe(true);
  const signalAgent = (signal: string) => cluster.runIn('n3', `pkill -${signal} -f 'agent/main.js --config'`);
  await signalAgent('STOP');
  await until('n3 is NotReady', async () => !(await isReady()));
  await signalAgent('CONT');
  await until('n3 is Ready', isReady);
});
