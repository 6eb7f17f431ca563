import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { PATHS } from '#pkg/agentapi/wire.ts';
import { createSet, type Owner } from './owners.ts';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

let cluster: PodCluster;
let set: Owner;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.50'], default: true });
  set = await createSet(cluster, 'db', 2);
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

/** The request of Spiderpool's coordinator during the set-up of a sandbox. */
function tellConflict(agent: AgentAtWork, { namespace, name, uid }: Pod, containerID: string) {
  const who = { containerID, podNamespace: namespace, podName: name, podUID: uid, netNamespace: '' };
  return agent.call('DELETE', PATHS.ips, { ...who, isReleaseConflictIPs: true });
}

test('the addresses of a sandbox in conflict are released while its pod is alive, and its next sandbox gets others', async () => {
  await using agent = await startAgentOf(cluster);
  await agent.untilReady();
  const pod = await cluster.createPod({ name: 'web' });
  const first = await agent.addressesOf(pod, { containerID: 'c1' });
  await agent.add(pod, { containerID: 'c1', ifName: 'net1' });
  expect(await cluster.records()).toHaveLength(2);
  expect(await tellConflict(agent, pod, 'c1')).toMatchObject({ status: 200 });
  expect(await cluster.records()).toEqual([]);
  await agent.del(pod, { containerID: 'c1' });
  expect(await agent.addressesOf(pod, { containerID: 'c2' })).not.toEqual(first);
});

test.each([
  { name: 'keeps its own', enableStatefulSet: true, status: 522, left: 1 },
  { name: 'is like any other where the switch is off', enableStatefulSet: false, status: 200, left: 0 },
])('a living StatefulSet pod in conflict $name', async ({ enableStatefulSet, status, left }) => {
  await using agent = await startAgentOf(cluster, { config: { enableStatefulSet } });
  await agent.untilReady();
  const pod = await cluster.createPod({ name: `db-${left}`, owner: set });
  await agent.add(pod, { containerID: 'c1' });
  expect(await tellConflict(agent, pod, 'c1')).toMatchObject({ status });
  expect(await cluster.records()).toHaveLength(left);
});
