import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { addressesIn } from '#test/support/plugin-call.ts';
import { startTcpProxy } from '#test/support/tcp-proxy.ts';
import { type ClusterAgentProcess, startClusterAgentProcess } from './cluster-agent-process.ts';
import { createSet, type Owner } from './owners.ts';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';
import { callPluginFor } from './pod-plugin.ts';

let cluster: PodCluster;
let set: Owner;
/** The agent of worker-1, which is well all the time. */
let one: AgentAtWork;
/** With the rights of the controller. */
let controller: Ledger;

beforeAll(async () => {
  cluster = await startPodCluster();
  set = await createSet(cluster, 'db', 1);
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.99'], default: true });
  controller = openKubernetesLedger(cluster.ledger.controller());
  one = await startAgentOf(cluster);
  await one.untilReady();
});
afterAll(async () => {
  await one[Symbol.asyncDispose]();
  await controller.close();
  await cluster[Symbol.asyncDispose]();
});
afterEach(async () => {
  await cluster.remove('/api/v1/namespaces/default/pods');
  await cluster.ledger.clear();
});

async function onlyRecord(): Promise<IpRecord> {
  const [record, ...others] = await cluster.records();
  if (record === undefined || others.length > 0) throw new Error(`one record expected, not ${others.length + 1}`);
  return record;
}

const startTwo = (port = cluster.ledger.port) => startClusterAgentProcess(cluster, port, { node: 'worker-2' });

async function addOn(agent: ClusterAgentProcess, pod: Pod, requestedIPs: readonly string[] = []): Promise<string> {
  const moreArgs = requestedIPs.map((address) => `IP=${address}`).join(';');
  const answer = await callPluginFor(agent, 'ADD', pod, { moreArgs });
  const [given = ''] = addressesIn(answer);
  expect(given, JSON.stringify(answer.document)).toMatch(/\/24$/);
  return given.replace('/24', '');
}

/** As kubelet does it for a sandbox of which it finds no more than its name. */
async function delLate(agent: ClusterAgentProcess, pod: Pod): Promise<void> {
  expect(await callPluginFor(agent, 'DEL', pod, { env: { CNI_NETNS: '' } })).toEqual({ code: 0, document: null });
}

/** What is written to its end. */
async function journalOf({ dataDirectory }: ClusterAgentProcess): Promise<string[]> {
  return (await readdir(join(dataDirectory, 'journal'))).filter((name) => name.endsWith('.json'));
}

interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly owner: () => Owner;
  /** The write of the controller after the old pod is gone. */
  readonly settle: (record: IpRecord) => Promise<unknown>;
}

describe.each<Workload>([
  {
    kind: 'a StatefulSet',
    name: 'db-0',
    owner: () => set,
    settle: (record) => controller.amend(record, { ...record.spec, state: 'Retained' }),
  },
  {
    kind: 'a Deployment',
    name: 'web-6d4b9-x7x7x',
    owner: () => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-6d4b9', uid: 'r-1' }),
    settle: (record) => controller.release(record),
  },
])('a node dies with a pod of $kind', ({ name, owner, settle }) => {
  const requested = (address: string) => (owner().kind === 'StatefulSet' ? [] : [address]);

  /** The next pod of the name, on the other node, has the address of the one before. */
  async function rebirth(address: string): Promise<IpRecord> {
    await settle(await onlyRecord());
    const reborn = await cluster.createPod({ name, owner: owner() });
    expect(await one.addressesOf(reborn, { requestedIPs: requested(address) })).toEqual([address]);
    const taken = await onlyRecord();
    expect(taken.spec).toMatchObject({ state: 'Allocated', holder: { uid: reborn.uid, node: 'worker-1' } });
    return taken;
  }

  test('its DEL that was spooled meanwhile, and one that comes later, leave the record of the next pod alone', async () => {
    await using two = await startTwo();
    const lost = await cluster.createPod({ name, owner: owner(), node: 'worker-2' });
    const address = await addOn(two, lost);
    await two.kill();
    await cluster.deletePod(lost);
    const taken = await rebirth(address);
    await delLate(two, lost);
    expect(await readdir(two.spoolDirectory)).toHaveLength(1);
    await two.start();
    expect([await readdir(two.spoolDirectory), await journalOf(two)]).toEqual([[], []]);
    expect(await onlyRecord()).toEqual(taken);
    await delLate(two, lost);
    expect(await onlyRecord()).toEqual(taken);
  });

  test('a release that it owed when it died leaves the record of the next pod alone', async () => {
    await using proxy = await startTcpProxy(cluster.ledger.port);
    await using two = await startTwo(proxy.port);
    const lost = await cluster.createPod({ name, owner: owner(), node: 'worker-2' });
    const address = await addOn(two, lost);
    await cluster.deletePod(lost);
    await vi.waitUntil(async () => (await callPluginFor(two, 'ADD', lost)).code !== 0, { timeout: 30_000 });
    proxy.refuse();
    proxy.cut();
    await delLate(two, lost);
    await vi.waitUntil(async () => (await journalOf(two)).length === 1, 30_000);
    await two.kill();
    const taken = await rebirth(address);
    await proxy.accept();
    await two.start();
    expect(await journalOf(two)).toEqual([]);
    expect(await onlyRecord()).toEqual(taken);
  });

  test('and gets the next pod itself: the DEL of the old sandbox leaves its record alone, said or spooled', async () => {
    await using two = await startTwo();
    const lost = await cluster.createPod({ name, owner: owner(), node: 'worker-2' });
    const address = await addOn(two, lost);
    await two.kill();
    await cluster.deletePod(lost);
    await settle(await onlyRecord());
    await delLate(two, lost);
    await two.start();
    expect(await readdir(two.spoolDirectory)).toEqual([]);
    const reborn = await cluster.createPod({ name, owner: owner(), node: 'worker-2' });
    expect(await addOn(two, reborn, requested(address))).toBe(address);
    const taken = await onlyRecord();
    await delLate(two, lost);
    expect(await onlyRecord()).toEqual(taken);
    await two.kill();
    await delLate(two, lost);
    await two.start();
    expect(await readdir(two.spoolDirectory)).toEqual([]);
    expect(await onlyRecord()).toEqual(taken);
  });
});
