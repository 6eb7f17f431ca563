import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { createKubevirt, createSet, installKubevirt, type Owner } from './owners.ts';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

const IPPOOL = 'ipam.spidernet.io/ippool';

let cluster: PodCluster;
let set: Owner;
let one: AgentAtWork;
let two: AgentAtWork;
/** With the rights of the controller. */
let controller: Ledger;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.99'], default: true });
  await cluster.createPool('pool-b', { subnet: '10.1.0.0/24', ips: ['10.1.0.10-10.1.0.99'] });
  set = await createSet(cluster, 'db', 8);
  controller = openKubernetesLedger(cluster.ledger.controller());
  one = await startAgentOf(cluster);
  two = await startAgentOf(cluster, { node: 'worker-2' });
  await Promise.all([one.untilReady(), two.untilReady()]);
});
afterAll(async () => {
  await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()]);
  await controller.close();
  await cluster[Symbol.asyncDispose]();
});
afterEach(() => cluster.ledger.clear());

const born = (name: string, node = 'worker-1', more = {}) => cluster.createPod({ name, node, owner: set, ...more });

async function onlyRecord() {
  const [record, ...others] = await cluster.records();
  if (record === undefined || others.length > 0) throw new Error(`one record expected, not ${others.length + 1}`);
  return record;
}

/** Like kubelet: the sandbox ends first, then the object is removed. */
async function endOn(agent: AgentAtWork, pod: Pod): Promise<void> {
  await cluster.deletePod(pod);
  await vi.waitUntil(async () => (await agent.tryAdd(pod)).status !== 200, { timeout: 20_000, interval: 100 });
  await agent.del(pod);
}

test('the address of a StatefulSet pod waits for the next pod of its name, also on another node', async () => {
  const first = await born('db-7');
  const address = await one.addressesOf(first);
  await endOn(one, first);
  const waiting = (await onlyRecord()).spec;
  expect(waiting).toMatchObject({ state: 'Retained', holder: { name: 'db-7' } });
  expect(waiting.holder).not.toHaveProperty('uid');
  const second = await born('db-7', 'worker-2');
  expect(await two.addressesOf(second)).toEqual(address);
  expect((await onlyRecord()).spec).toMatchObject({
    state: 'Allocated',
    holder: { uid: second.uid, node: 'worker-2', attachGeneration: 2 },
  });
  await cluster.deletePod(second);
});

test('a take-over costs one list, one read and one update', async () => {
  const { server } = cluster.ledger;
  const first = await born('db-0');
  await one.add(first);
  await endOn(one, first);
  const second = await born('db-0');
  await vi.waitUntil(async () => (await one.call('GET', '/v1/ipam/healthy')).status === 200);
  const count = async (verb: string, resource: string) => await server.requestCount({ verb, resource });
  const before = [await count('LIST', 'iprecords'), await count('PUT', 'iprecords'), await count('POST', 'iprecords')];
  const reads = await count('GET', 'iprecords');
  await one.add(second);
  const after = [await count('LIST', 'iprecords'), await count('PUT', 'iprecords'), await count('POST', 'iprecords')];
  expect(after.map((it, at) => it - (before[at] ?? 0))).toEqual([1, 1, 0]);
  expect((await count('GET', 'iprecords')) - reads).toBe(0);
  await cluster.deletePod(second);
});

test('when the record of the previous pod is still Allocated, the ADD fails in time, and succeeds once the controller has moved it', async () => {
  const lost = await born('db-1', 'worker-2');
  const address = await two.addressesOf(lost);
  await cluster.deletePod(lost); // by force: its node may still run it
  const reborn = await born('db-1');
  const { reason, message } = await one.refusal(reborn);
  expect(reason).toBe('address-held');
  for (const word of [...address, lost.uid, 'worker-2']) expect(message).toContain(word);
  const record = await onlyRecord();
  expect(record.spec.holder.uid).toBe(lost.uid);
  await controller.amend(record, { ...record.spec, state: 'Retained' });
  expect(await one.addressesOf(reborn)).toEqual(address);
  await cluster.deletePod(reborn);
});

test('the late DEL of a node with an old record in its index does not touch the record of the new pod on another node', async () => {
  const lost = await born('db-2', 'worker-2');
  const address = await two.addressesOf(lost);
  await cluster.deletePod(lost);
  const record = await onlyRecord();
  await controller.amend(record, { ...record.spec, state: 'Retained' });
  const reborn = await born('db-2');
  expect(await one.addressesOf(reborn)).toEqual(address);
  const taken = await onlyRecord();
  await two.del(lost);
  expect(await onlyRecord()).toEqual(taken);
  await cluster.deletePod(reborn);
});

test('the late DEL of an ordinary pod does not touch an address that another pod has by now', async () => {
  const lost = await cluster.createPod({ name: 'plain', node: 'worker-2' });
  const [address = ''] = await two.addressesOf(lost);
  await cluster.deletePod(lost);
  await controller.release(await onlyRecord());
  const next = await cluster.createPod({ name: 'next' });
  expect(await one.addressesOf(next, { requestedIPs: [address] })).toEqual([address]);
  const taken = await onlyRecord();
  await two.del(lost);
  expect(await onlyRecord()).toEqual(taken);
});

test('when the pool is not a candidate any more, the next pod gets a new address', async () => {
  const first = await born('db-3');
  await one.add(first);
  await endOn(one, first);
  const second = await born('db-3', 'worker-1', { annotations: { [IPPOOL]: '{"ipv4": ["pool-b"]}' } });
  const { ips } = await one.add(second);
  expect(ips.map(({ ipPool }) => ipPool)).toEqual(['pool-b']);
  expect((await cluster.records()).map(({ spec }) => spec.state).sort()).toEqual(['Allocated', 'Retained']);
  await cluster.deletePod(second);
});

test('with enableStatefulSet off the address is free at once', async () => {
  await using plain = await startAgentOf(cluster, { node: 'worker-0', config: { enableStatefulSet: false } });
  await plain.untilReady();
  const pod = await born('db-4', 'worker-0');
  await plain.add(pod);
  await endOn(plain, pod);
  expect(await cluster.records()).toEqual([]);
});

test("a virtual machine's address is under its name, goes from launcher to launcher, and a migration target is answered without a write", async () => {
  await installKubevirt(cluster);
  const vmi = await createKubevirt(cluster, 'virtualmachineinstances', 'vm');
  await createKubevirt(cluster, 'virtualmachineinstancemigrations', 'job-1', { spec: { vmiName: 'vm' } });
  const launcher = (name: string, node: string, annotations = {}) =>
    cluster.createPod({ name, node, owner: vmi, annotations });
  const source = await launcher('virt-launcher-vm-aaaaa', 'worker-1');
  const address = await one.addressesOf(source);
  const before = await onlyRecord();
  expect(before.spec.holder).toMatchObject({ kind: 'VirtualMachineInstance', name: 'vm', uid: source.uid });
  const target = await launcher('virt-launcher-vm-bbbbb', 'worker-2', { 'kubevirt.io/migrationJobName': 'job-1' });
  expect(await two.addressesOf(target)).toEqual(address);
  expect(await onlyRecord()).toEqual(before);
  await two.del(target); // the migration failed
  expect(await onlyRecord()).toEqual(before);
  await endOn(one, source);
  expect((await onlyRecord()).spec.state).toBe('Retained');
  const third = await launcher('virt-launcher-vm-ccccc', 'worker-2');
  expect(await two.addressesOf(third)).toEqual(address);
  for (const pod of [target, third]) await cluster.deletePod(pod);
});

test('a Suspect address of a living sandbox becomes Allocated again at the next ADD', async () => {
  const pod = await cluster.createPod({ name: 'doubted' });
  const address = await one.addressesOf(pod);
  const record = await onlyRecord();
  await controller.amend(record, { ...record.spec, state: 'Suspect' });
  expect(await one.addressesOf(pod)).toEqual(address);
  expect((await onlyRecord()).spec.state).toBe('Allocated');
});

test('a Suspect address whose sandbox lives is taken back by an agent that starts', async () => {
  const pod = await cluster.createPod({ name: 'doubted-2', node: 'worker-0' });
  await using before = await startAgentOf(cluster, { node: 'worker-0' });
  await before.add(pod);
  await before.stop();
  const record = await onlyRecord();
  await controller.amend(record, { ...record.spec, state: 'Suspect' });
  await using after = await startAgentOf(cluster, { node: 'worker-0' });
  await after.untilReady();
  expect((await onlyRecord()).spec).toMatchObject({
    state: 'Allocated',
    holder: { uid: pod.uid, attachGeneration: 2 },
  });
});
