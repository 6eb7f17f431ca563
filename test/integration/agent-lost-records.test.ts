import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const LONG = { timeout: 90_000, interval: 200 };

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.13'], default: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());
afterEach(() => cluster.ledger.clear());

const specsOf = (records: readonly IpRecord[]) =>
  records.map(({ spec }) => [spec.address, spec.holder.name, spec.holder.interface]).toSorted();

async function addOnTwoNics(agent: AgentAtWork, pod: Pod): Promise<void> {
  await agent.add(pod);
  await agent.add(pod, { ifName: 'net1' });
}

describe('records that were deleted by hand', () => {
  test('come back for every interface when the agent starts, before its first ADD', async () => {
    const pod = await cluster.createPod({ name: 'web' });
    const other = await cluster.createPod({ name: 'other' });
    await using first = await startAgentOf(cluster);
    await addOnTwoNics(first, pod);
    const before = specsOf(await cluster.records());
    await first.stop();
    await cluster.ledger.clear();
    await using agent = await startAgentOf(cluster, { directory: first.directory });
    const [address = ''] = await agent.addressesOf(other);
    expect(before.map(([it]) => it)).not.toContain(address);
    expect(specsOf(await cluster.records())).toEqual([...before, [address, 'other', 'eth0']].toSorted());
    await cluster.deletePod(pod);
    await cluster.deletePod(other);
  });

  test('whose address another pod has by now are told to both pods, and the loser gets another address', async () => {
    const loser = await cluster.createPod({ name: 'loser' });
    const winner = await cluster.createPod({ name: 'winner', node: 'worker-2' });
    await using first = await startAgentOf(cluster);
    const [address = ''] = await first.addressesOf(loser);
    await first.stop();
    await cluster.remove(`${RECORDS}/${address}`);
    await using there = await startAgentOf(cluster, { node: 'worker-2' });
    const requestedIPs = [address];
    expect(await there.addressesOf(winner, { requestedIPs })).toEqual([address]);
    await using agent = await startAgentOf(cluster, { directory: first.directory });
    await agent.untilReady();
    expect(agent.gauge('lost-addresses')).toBe(1);
    const next = await agent.addressesOf(loser, { containerID: 'c2' });
    expect(next).not.toContain(address);
    const told = await vi.waitUntil(async () => {
      const notes = await eventNotes();
      return notes.length === 3 && notes;
    }, LONG);
    expect(told.toSorted()).toEqual(['Pod loser', 'Pod winner', 'SpiderIPPool pool-a']);
    for (const pod of [loser, winner]) await cluster.deletePod(pod);
  });
});

async function eventNotes(): Promise<string[]> {
  const { items } = await cluster.read<{ items: { reason: string; regarding: { kind: string; name: string } }[] }>(
    '/apis/events.k8s.io/v1/events',
  );
  return items
    .filter(({ reason }) => reason === 'IPAddressInUseTwice')
    .map(({ regarding }) => `${regarding.kind} ${regarding.name}`);
}

test('after a restore of etcd from a backup agents write live records back before they give out new addresses', async () => {
  const [early, late, idle] = [
    await cluster.createPod({ name: 'early' }),
    await cluster.createPod({ name: 'late' }),
    await cluster.createPod({ name: 'idle', node: 'worker-2' }),
  ];
  await using agent = await startAgentOf(cluster);
  await using peer = await startAgentOf(cluster, { node: 'worker-2' });
  await agent.add(early);
  await peer.untilReady();
  await cluster.ledger.server.saveStore();
  // What is written from here on is not in the backup. A server that starts writes too: the store must not catch up by that.
  for (let at = 0; at < 200; at += 1) {
    await vi.waitUntil(
      () =>
        cluster.post('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'x-' } }).then(
          () => true,
          () => false,
        ),
      LONG,
    );
  }
  await vi.waitUntil(async () => (await agent.tryAdd(late)).status === 200, LONG);
  await vi.waitUntil(async () => (await peer.tryAdd(idle)).status === 200, LONG);
  const before = specsOf(await cluster.records());
  expect(before).toHaveLength(3);
  expect(await agent.addressesOf(late)).toHaveLength(1);
  await cluster.ledger.server.restoreStore();
  await vi.waitUntil(async () => specsOf(await cluster.records()).length === 3, LONG);
  expect(specsOf(await cluster.records())).toEqual(before);
  const next = await cluster.createPod({ name: 'next' });
  expect(await agent.refusal(next)).toMatchObject({ reason: 'ledger-restored' });
  // A restart of the agent does not end that minute.
  await peer.stop();
  await using restarted = await startAgentOf(cluster, { node: 'worker-2', directory: peer.directory });
  const there = await cluster.createPod({ name: 'there', node: 'worker-2' });
  expect(await restarted.refusal(there)).toMatchObject({ reason: 'ledger-restored' });
  // What is held already is answered all the same.
  expect((await agent.tryAdd(late)).status).toBe(200);
  await vi.waitUntil(async () => (await agent.tryAdd(next)).status === 200, LONG);
  expect(specsOf(await cluster.records())).toHaveLength(4);
});
