import { expect, test } from 'vitest';
import { type KubeCalls, kubeCalls, type Pod } from './kube-calls.ts';
import { sharedCluster } from './shared-cluster.ts';
import { openStage } from './stage.ts';
import { until } from './until.ts';
import { pod } from './workloads.ts';

const DAEMON_SET = '/apis/apps/v1/namespaces/ipledger/daemonsets/ipledger-agent';
const AGENTS = '/api/v1/namespaces/ipledger/pods?labelSelector=app.kubernetes.io/component=agent';
/** How long the plugin waits for an agent before a STATUS fails, less what looking for it takes. */
const PATIENCE_MS = 7_500;

test('a node whose agent does not answer is NotReady until it does', async () => {
  const cluster = sharedCluster();
  const kube = kubeCalls(cluster.server);
  const isNodeReady = async () => isReady(await kube.read<Pod>('/api/v1/nodes/n3'));
  expect(await isNodeReady()).toBe(true);
  const before = await transitions(kube);
  const signalAgent = (signal: string) => cluster.runIn('n3', `pkill -${signal} -f 'agent/main.js --config'`);
  await signalAgent('STOP');
  await until('n3 is NotReady', async () => !(await isNodeReady()));
  await signalAgent('CONT');
  await until('n3 is Ready', isNodeReady);
  // The next test relies on it.
  expect((await transitions(kube))['n3']).not.toBe(before['n3']);
});

test('a rollout of the agents makes no node NotReady, and a pod that is created while its agent is away gets its address', async () => {
  await using stage = await openStage('agent-rollout', ['10.88.30.1-10.88.30.10']);
  const { kube, cluster } = stage;
  const before = await transitions(kube);
  const replaced = new Set((await kube.list<Pod>(AGENTS)).map(({ metadata }) => metadata.uid));
  const template = { metadata: { annotations: { 'rolled-out': 'by-the-test' } } };
  await kube.patch(DAEMON_SET, { spec: { template } });

  const awaySinceMs = new Map<string, number>();
  const awayForMs = new Map<string, number>();
  await until('all agents are replaced', async () => {
    const agents = await kube.list<Pod>(AGENTS);
    for (const node of cluster.nodes) {
      const here = agents.filter(({ spec }) => spec.nodeName === node);
      const isServed = here.some((agent) => isReady(agent) && agent.metadata.deletionTimestamp === undefined);
      if (!isServed && !awaySinceMs.has(node)) {
        awaySinceMs.set(node, performance.now());
        await kube.create(stage.path('pods'), pod(`made-on-${node}`, { spec: { nodeName: node } }));
      }
      const isNew = here.some((agent) => isReady(agent) && !replaced.has(agent.metadata.uid));
      const sinceMs = awaySinceMs.get(node);
      if (isNew && sinceMs !== undefined && !awayForMs.has(node)) awayForMs.set(node, performance.now() - sinceMs);
    }
    return awayForMs.size === cluster.nodes.length;
  });

  const pods = await stage.running(cluster.nodes.length);
  expect(new Set(pods.map(({ status }) => status.podIP)).size).toBe(cluster.nodes.length);
  // Where a busy machine keeps an agent away for longer than any caller waits, the node has to be NotReady.
  const outwaited = cluster.nodes.filter((node) => (awayForMs.get(node) ?? 0) < PATIENCE_MS);
  const after = await transitions(kube);
  expect(Object.fromEntries(outwaited.map((node) => [node, after[node]]))).toEqual(
    Object.fromEntries(outwaited.map((node) => [node, before[node]])),
  );
});

const isReady = ({ status }: Pod) =>
  status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;

/** When each node last became Ready: a node that was NotReady in between has another time. */
async function transitions(kube: KubeCalls): Promise<Record<string, string | undefined>> {
  const nodes = await kube.list<Pod>('/api/v1/nodes');
  return Object.fromEntries(
    nodes.map(({ metadata, status }) => {
      const ready = status.conditions?.find(({ type }) => type === 'Ready');
      return [metadata.name, `${ready?.status} since ${ready?.lastTransitionTime}`];
    }),
  );
}
