import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { callApi } from '#test/support/api-request.ts';
import { createKubevirt, createSet, installKubevirt, kubevirtPath, type Owner, setPath } from './owners.ts';
import { type AgentAtWork, type Pod, type PodCluster, startAgentOf, startPodCluster } from './pod-cluster.ts';

/** What a tenant with the right to create pods writes into them. docs/security.md names these tests. */
const MARK = 'kubevirt.io/migrationJobName';
const FORGED_VMI = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'ghost', uid: 'forged' };

let cluster: PodCluster;
let one: AgentAtWork;
let two: AgentAtWork;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('pool-a', { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.99'], default: true });
  one = await startAgentOf(cluster);
  two = await startAgentOf(cluster, { node: 'worker-2' });
  await Promise.all([one.untilReady(), two.untilReady()]);
});
afterAll(async () => {
  await Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()]);
  await cluster[Symbol.asyncDispose]();
});
afterEach(() => cluster.ledger.clear());

/** As kubelet ends it: the sandbox first, then the object. */
async function endOn(agent: AgentAtWork, pod: Pod): Promise<void> {
  await cluster.deletePod(pod);
  await vi.waitUntil(async () => (await agent.tryAdd(pod)).status !== 200, { timeout: 20_000, interval: 100 });
  await agent.del(pod);
}

const holders = async () =>
  (await cluster.records()).map(({ spec: { state, holder } }) => [state, holder.kind, holder.name, holder.sticky]);

/** The notes of the Events about a pod, from the agent. */
async function toldAbout({ namespace, name }: Pod): Promise<string[]> {
  const { server } = cluster.ledger;
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { body } = await callApi(server, { path, token: server.adminToken });
  const { items } = body as { items: { reason: string; note: string; regarding: { name: string } }[] };
  return items.filter((it) => it.regarding.name === name && it.reason === 'OwnerNotVerified').map(({ note }) => note);
}

test('a forged VMI owner where KubeVirt is not served: a plain pod, whose address is free after its DEL', async () => {
  for (const name of ['burn-a', 'burn-b', 'burn-c']) {
    const pod = await cluster.createPod({ name, owner: FORGED_VMI });
    await one.add(pod);
    expect(await holders()).toEqual([['Allocated', 'Pod', name, false]]);
    await endOn(one, pod);
    expect(await cluster.records()).toEqual([]);
  }
});

test('the pod is told, once, why its owner does not count', async () => {
  const pod = await cluster.createPod({ name: 'told', owner: FORGED_VMI });
  await one.add(pod);
  await one.add(pod);
  await vi.waitUntil(async () => (await toldAbout(pod)).length > 0, { timeout: 20_000, interval: 100 });
  expect(await toldAbout(pod)).toEqual([
    expect.stringContaining('the API server does not serve VirtualMachineInstance default/ghost'),
  ]);
  expect(one.log.filter((line) => line.includes('does not count')).join('')).toContain('request warning');
});

test('a StatefulSet keeps addresses for the ordinals that it wants, and for no other bare pod of its name', async () => {
  const set = await createSet(cluster, 'burn', 2);
  for (const name of ['burn-1', 'burn-2', 'burn-7000']) {
    const pod = await cluster.createPod({ name, owner: set });
    await one.add(pod);
    await endOn(one, pod);
  }
  expect(await holders()).toEqual([['Retained', 'Pod', 'burn-1', true]]);
});

test('a set of another namespace, another uid, or none at all makes no pod sticky', async () => {
  const set = await createSet(cluster, 'mine', 9);
  const forged: Owner[] = [
    { ...set, uid: 'other' },
    { ...set, name: 'absent' },
  ];
  for (const [at, owner] of forged.entries()) {
    const pod = await cluster.createPod({ name: `${owner.name}-${at}`, owner });
    await one.add(pod);
    await endOn(one, pod);
  }
  expect(await cluster.records()).toEqual([]);
});

test('a pod that gets itself an owner after its first ADD stays what it was', async () => {
  const set = await createSet(cluster, 'late', 3);
  const pod = await cluster.createPod({ name: 'late-0', owner: { ...set, kind: 'DaemonSet' } });
  const address = await one.addressesOf(pod);
  const path = `/api/v1/namespaces/default/pods/${pod.name}`;
  await cluster.patch(path, { metadata: { ownerReferences: [{ ...set, controller: true }] } });
  await vi.waitUntil(async () => {
    expect(await one.addressesOf(pod, { containerID: `c${Date.now()}` })).toEqual(address);
    return true;
  });
  await endOn(one, pod);
  expect((await cluster.records()).filter(({ spec }) => spec.state === 'Retained')).toEqual([]);
});

describe('where the owner cannot be read', () => {
  const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/ipledger-agent';
  const rulesOf = async () => {
    const { server } = cluster.ledger;
    return (await callApi(server, { path: ROLE, token: server.adminToken })).body as {
      rules: { apiGroups: string[]; resources: string[] }[];
    };
  };

  test('a missing right is an error that may be retried, and never an address that is not kept', async () => {
    const set = await createSet(cluster, 'guarded', 3);
    const { rules } = await rulesOf();
    await using stack = new AsyncDisposableStack();
    stack.defer(() => cluster.patch(ROLE, { rules }));
    await cluster.patch(ROLE, { rules: rules.filter(({ resources }) => !resources.includes('statefulsets')) });
    const pod = await cluster.createPod({ name: 'guarded-0', owner: set });
    const refused = await vi.waitUntil(async () => {
      const { status, body } = await one.tryAdd(pod);
      return status === 200 ? null : (body as { reason: string; message: string });
    });
    expect(refused).toMatchObject({ reason: 'api-server-unavailable' });
    expect(refused?.message).toContain('deploy/rbac.yaml');
    expect(await cluster.records()).toEqual([]);
    await cluster.patch(ROLE, { rules });
    await vi.waitUntil(async () => (await one.tryAdd(pod)).status === 200, { timeout: 20_000, interval: 200 });
    expect(await holders()).toEqual([['Allocated', 'Pod', 'guarded-0', true]]);
  });
});

test('first ADDs of plain pods read no owner; the pods of one set share a read, and a re-ADD costs none', async () => {
  const { server } = cluster.ledger;
  const reads = async () =>
    (await server.requestCount({ verb: 'GET', resource: 'statefulsets' })) +
    (await server.requestCount({ verb: 'GET', resource: 'virtualmachineinstances' }));
  const before = await reads();
  for (let at = 0; at < 40; at += 1) await one.add(await cluster.createPod({ name: `plain-${at}` }));
  expect(await reads()).toBe(before);
  const set = await createSet(cluster, 'shared', 10);
  const pods = await Promise.all([0, 1, 2, 3, 4].map((at) => cluster.createPod({ name: `shared-${at}`, owner: set })));
  await Promise.all(pods.map((pod) => one.add(pod)));
  expect((await reads()) - before).toBe(1);
  for (const pod of pods) await one.add(pod, { containerID: `again-${pod.name}` });
  for (const pod of pods) await one.add(pod, { ifName: 'net1' });
  expect((await reads()) - before).toBe(1);
});

describe('beside virtual machines', () => {
  let vmi: Owner;

  beforeAll(async () => {
    await installKubevirt(cluster);
    vmi = await createKubevirt(cluster, 'virtualmachineinstances', 'vm');
  });

  const started = async () => {
    const launcher = await cluster.createPod({ name: `virt-launcher-vm-${Date.now()}`, owner: vmi });
    return { launcher, address: await one.addressesOf(launcher) };
  };
  const NOT_OVER = { spec: { vmiName: 'vm' }, status: { phase: 'Scheduling' } };

  test.each<{ name: string; owner: (vmi: Owner) => Owner; job: string; made?: object }>([
    { name: 'another uid', owner: (it) => ({ ...it, uid: 'forged' }), job: 'a', made: NOT_OVER },
    { name: 'a VMI that is not there', owner: (it) => ({ ...it, name: 'vm-x' }), job: 'b', made: NOT_OVER },
  ])('a migration mark and $name: a plain pod with an address of its own', async ({ owner, job, made = {} }) => {
    const { launcher, address } = await started();
    await createKubevirt(cluster, 'virtualmachineinstancemigrations', job, made);
    const pod = await cluster.createPod({
      name: `thief-${job}`,
      node: 'worker-2',
      owner: owner(vmi),
      annotations: { [MARK]: job },
    });
    const got = await two.addressesOf(pod);
    expect(got).not.toEqual(address);
    expect(await holders()).toContainEqual(['Allocated', 'Pod', pod.name, false]);
    for (const it of [launcher, pod]) await cluster.deletePod(it);
  });

  test.each<{ name: string; job: string; made: object | null }>([
    { name: 'is not there', job: 'no-such', made: null },
    { name: 'is of another VMI', job: 'of-other', made: { ...NOT_OVER, spec: { vmiName: 'other' } } },
    { name: 'has succeeded', job: 'over', made: { ...NOT_OVER, status: { phase: 'Succeeded' } } },
    { name: 'has failed', job: 'failed', made: { ...NOT_OVER, status: { phase: 'Failed' } } },
  ])('a mark whose migration $name does not get the address of the running VMI', async ({ job, made }) => {
    const { launcher, address } = await started();
    if (made !== null) await createKubevirt(cluster, 'virtualmachineinstancemigrations', job, made);
    const pod = await cluster.createPod({
      name: `thief-${job}`,
      node: 'worker-2',
      owner: vmi,
      annotations: { [MARK]: job },
    });
    const before = await cluster.records();
    const { reason, message } = await two.refusal(pod);
    expect(reason).toBe('address-held');
    expect(message).toContain(address[0]);
    expect(await cluster.records()).toEqual(before);
    for (const it of [launcher, pod]) await cluster.deletePod(it);
  });

  test('the address of a stopped virtual machine is not taken over by a pod with a forged owner', async () => {
    await createKubevirt(cluster, 'virtualmachines', 'halted');
    const before = await createKubevirt(cluster, 'virtualmachineinstances', 'halted');
    const launcher = await cluster.createPod({ name: 'virt-launcher-halted-a', owner: before });
    const address = await one.addressesOf(launcher);
    await endOn(one, launcher);
    await cluster.remove(kubevirtPath('virtualmachineinstances', 'halted'));
    expect(await holders()).toEqual([['Retained', 'VirtualMachineInstance', 'halted', true]]);
    const thief = await cluster.createPod({ name: 'thief', owner: before });
    expect(await one.addressesOf(thief)).not.toEqual(address);
    expect(await holders()).toContainEqual(['Retained', 'VirtualMachineInstance', 'halted', true]);
    // Started again it is another object, and has its address.
    const after = await createKubevirt(cluster, 'virtualmachineinstances', 'halted');
    const next = await cluster.createPod({ name: 'virt-launcher-halted-b', owner: after });
    expect(await one.addressesOf(next)).toEqual(address);
    expect((await cluster.records()).map(({ spec }) => spec.holder.owner?.uid)).toContain(after.uid);
  });
});

test('a set that is scaled up is asked again before its new pod hears no', async () => {
  const set = await createSet(cluster, 'grows', 1);
  await one.add(await cluster.createPod({ name: 'grows-0', owner: set }));
  await cluster.patch(setPath('grows'), { spec: { replicas: 3 } });
  await one.add(await cluster.createPod({ name: 'grows-2', owner: set }));
  expect(await holders()).toEqual([
    ['Allocated', 'Pod', 'grows-0', true],
    ['Allocated', 'Pod', 'grows-2', true],
  ]);
});
