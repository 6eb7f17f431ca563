import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', {
    subnet: '10.0.0.0/24',
    ips: ['10.0.0.10-10.0.0.30'],
    gateway: '10.0.0.1',
    default: true,
  });
  await cluster.createPool('pool-b', { subnet: '10.1.0.0/24', ips: ['10.1.0.10-10.1.0.30'] });
  await cluster.createPool('pool-6', { subnet: 'fd00::/64', ips: ['fd00::10-fd00::30'], default: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

test('a pod gets its addresses of both families, and a repeated ADD the same ones', async () => {
  await using agent = await startAgentOf(cluster);
  const pod = await cluster.createPod({ name: 'web-1' });
  const first = await agent.add(pod);
  expect(first.ips).toHaveLength(2);
  expect(await agent.add(pod)).toEqual(first);
  expect(await cluster.records()).toMatchObject([
    {
      spec: {
        state: 'Allocated',
        holder: { kind: 'Pod', namespace: 'default', name: 'web-1', uid: pod.uid, node: 'worker-1' },
      },
    },
    { spec: { prefix: 64 } },
  ]);
});

test('a steady ADD is one create per address and no read; a DEL of a pod that is gone is one delete', async () => {
  await using agent = await startAgentOf(cluster);
  const warm = await cluster.createPod({ name: 'warm' });
  await agent.add(warm);
  const pods = await Promise.all(Array.from({ length: 5 }, (_, at) => cluster.createPod({ name: `steady-${at}` })));
  await vi.waitUntil(async () => (await agent.call('GET', '/v1/ipam/healthy')).status === 200);
  await new Promise((resolve) => setTimeout(resolve, 1_000)); // the watch has shown the pods
  const { server } = cluster.ledger;
  const count = (verb: string) => server.requestCount({ verb, resource: 'iprecords' });
  const countReads = async () =>
    (await server.requestCount({ verb: 'GET' })) + (await server.requestCount({ verb: 'LIST' }));
  const [creates, reads] = [await count('POST'), await countReads()];
  for (const pod of pods) await agent.add(pod);
  expect((await count('POST')) - creates).toBe(10);
  // One of them is the read of the metrics before.
  expect((await countReads()) - reads).toBeLessThanOrEqual(2);
  const deletes = await count('DELETE');
  for (const pod of pods) await cluster.deletePod(pod);
  await vi.waitUntil(() => agent.log.join('').length > 0);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const readsBefore = await countReads();
  for (const pod of pods) await agent.del(pod);
  expect((await count('DELETE')) - deletes).toBe(10);
  expect((await countReads()) - readsBefore).toBeLessThanOrEqual(2);
  expect((await cluster.records()).map(({ spec }) => spec.holder.name)).toEqual(['warm', 'warm']);
});
