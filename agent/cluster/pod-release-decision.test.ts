import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { drainSpool } from '#agent/release/drain-spool.ts';
import type { NodePod } from '#agent/sources/pods.ts';
import type { Holder } from '#pkg/record/ip-record.ts';
import { toRetained } from '#pkg/record/released-spec.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { delArgs } from '#test/support/memory-agent.ts';
import { startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { MemoryPods } from '#test/support/memory-pods.ts';
import { podReleaseDecision } from './pod-release-decision.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });
const ON = { enableStatefulSet: true, enableKubevirtStaticIP: true };
const OFF = { enableStatefulSet: false, enableKubevirtStaticIP: false };
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's-1' };
const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };

const WEB = { kind: 'Pod', namespace: 'prod', name: 'web', uid: 'uid-of-web' } as const;
const DB = { kind: 'Pod', namespace: 'prod', name: 'db-7', uid: 'uid-of-db-7', owner: OWNER } as const;
const VM = { kind: 'VirtualMachineInstance', namespace: 'prod', name: 'vm', uid: 'u' } as const;

test.each([
  { name: 'a living pod keeps it', holder: WEB, alive: ['web'], switches: ON, expected: 'keep' },
  { name: 'a living sticky pod keeps it', holder: DB, alive: ['db-7'], switches: ON, expected: 'keep' },
  { name: 'a pod that is gone frees it', holder: WEB, alive: [], switches: ON, expected: 'free' },
  {
    name: 'one of the same name lives, with another uid',
    holder: { ...WEB, uid: 'old' },
    alive: ['web'],
    switches: ON,
    expected: 'free',
  },
  {
    name: 'a StatefulSet pod that is gone leaves it to the next',
    holder: DB,
    alive: [],
    switches: ON,
    expected: 'retain',
  },
  { name: 'a StatefulSet pod with the switch off frees it', holder: DB, alive: [], switches: OFF, expected: 'free' },
  {
    name: 'a pod that is not named like one of its set',
    holder: { ...DB, name: 'db-x' },
    alive: [],
    switches: ON,
    expected: 'free',
  },
  {
    name: "a third party's StatefulSet",
    holder: { ...DB, owner: { ...OWNER, apiVersion: 'apps.kruise.io/v1' } },
    alive: [],
    switches: ON,
    expected: 'free',
  },
  { name: 'a virtual machine', holder: VM, alive: [], switches: ON, expected: 'retain' },
  { name: 'a virtual machine with the switch off', holder: VM, alive: [], switches: OFF, expected: 'free' },
] as const)('$name: $expected', ({ holder, alive, switches, expected }) => {
  const pods = new MemoryPods();
  for (const name of alive) pods.put(name);
  expect(podReleaseDecision(pods, switches)(buildRecord({ holder }))).toBe(expected);
});

test.each([
  { name: 'a living pod', holder: WEB, alive: ['web'], switches: ON, expected: 'free' },
  { name: 'a living sticky pod', holder: DB, alive: ['db-7'], switches: ON, expected: 'keep' },
  {
    name: 'a living StatefulSet pod with the switch off',
    holder: DB,
    alive: ['db-7'],
    switches: OFF,
    expected: 'free',
  },
  { name: 'a sticky pod that is gone', holder: DB, alive: [], switches: ON, expected: 'retain' },
  { name: 'a virtual machine whose pod lives', holder: VM, alive: ['u'], switches: ON, expected: 'keep' },
] as const)('in conflict: $name: $expected', ({ holder, alive, switches, expected }) => {
  const pods = new MemoryPods();
  for (const name of alive) pods.put(name, { uid: holder.uid });
  expect(podReleaseDecision(pods, switches)(buildRecord({ holder }), 'conflict')).toBe(expected);
});

test('what rests or waits already is not touched by a DEL', () => {
  const judge = podReleaseDecision(new MemoryPods(), ON);
  for (const state of ['Cooling', 'Quarantined'] as const) {
    expect(judge(buildRecord({ state, holder: WEB }))).toBe('keep');
  }
  const record = buildRecord({ holder: DB });
  expect(judge({ ...record, spec: toRetained(record.spec) })).toBe('keep');
  expect(judge(buildRecord({ state: 'Suspect', holder: WEB }))).toBe('free');
  expect(judge(buildRecord({ state: 'Suspect', holder: DB }))).toBe('free');
});

test('the DEL of a sandbox that was in doubt ends the doubt', async () => {
  expect(podReleaseDecision(new MemoryPods(), ON)(buildRecord({ state: 'Retained', holder: DB }))).toBe('retain');
  await using made = await startMemoryClusterAgent([POOL]);
  const pod = made.pods.put('db-0', { controller: SET });
  await made.add(pod, 'c1');
  made.pods.remove(pod);
  const [held] = await made.records();
  if (held === undefined) throw new Error('there is no record');
  await made.ledger.amend(held, { ...held.spec, state: 'Retained' });
  await made.refresh();
  await made.del(pod, 'c1');
  const [waiting] = await made.records();
  expect(waiting?.spec.state).toBe('Retained');
  for (const trace of ['uid', 'containerID', 'netns', 'netnsInode', 'bootID', 'machineID'])
    expect(waiting?.spec.holder).not.toHaveProperty(trace);
});

test('a new sandbox of a living pod gets the address of the one before it', async () => {
  await using made = await startMemoryClusterAgent([POOL]);
  const pod = made.pods.put('web');
  const first = await made.add(pod, 'c1');
  await made.del(pod, 'c1');
  expect(await made.records()).toHaveLength(1);
  expect(await made.add(pod, 'c2')).toEqual(first);
  expect(await made.records()).toMatchObject([{ spec: { holder: { containerID: 'c2', attachGeneration: 2 } } }]);
});

test('what was kept for a new sandbox goes when the pod ends instead', async () => {
  await using made = await startMemoryClusterAgent([POOL]);
  const pod = made.pods.put('web');
  await made.add(pod, 'c1');
  await made.del(pod, 'c1');
  made.pods.end(pod);
  await vi.waitUntil(async () => (await made.records()).length === 0, 20_000);
});

test('a kept address of a sticky pod is retained when the pod ends', async () => {
  await using made = await startMemoryClusterAgent([POOL]);
  const pod = made.pods.put('db-0', { controller: SET });
  await made.add(pod, 'c1');
  await made.del(pod, 'c1');
  made.pods.end(pod);
  await vi.waitUntil(async () => (await made.records())[0]?.spec.state === 'Retained', 20_000);
});

test.each(['c1', 'c2'])(
  'a sandbox that was attached again (%s) keeps its address while its pod is being deleted',
  async (again) => {
    await using made = await startMemoryClusterAgent([POOL]);
    const pod = made.pods.put('web');
    await made.add(pod, 'c1');
    await made.del(pod, 'c1');
    await made.add(pod, again);
    made.pods.end(pod); // its containers have their grace period
    await made.releaser.podEnded(pod.uid);
    expect(await made.records()).toHaveLength(1);
    await made.del(pod, again);
    expect(await made.records()).toEqual([]);
  },
);

/** As adopted from Spiderpool, restored or repaired: its pod and interface are known, its sandbox is not. */
async function startAdopted(who: Partial<Holder> = WEB, more: Partial<NodePod> = {}) {
  const made = await startMemoryClusterAgent([POOL]);
  const pod = made.pods.put(who.name ?? '', more);
  const { spec } = buildRecord({ address: '10.0.0.10', holder: { ...who, node: 'worker-1' } });
  const { containerID: _c, netns: _n, network: _w, ...holder } = spec.holder;
  const outcome = await made.ledger.create({ ...spec, holder });
  if (!outcome.taken) throw new Error('the address is taken');
  await made.refresh();
  return { ...made, pod };
}

test('the DEL of an older sandbox does not make a record without a container leave at the start of the grace', async () => {
  await using made = await startAdopted();
  await made.del(made.pod, 'older');
  made.pods.end(made.pod); // the containers of its sandbox have their grace period
  await made.endsHandled();
  expect(await made.records()).toHaveLength(1);
});

/** Whose DEL it is cannot be told: that of an older sandbox may come late, while the pod's own runs on in its grace. */
test.each([
  { name: 'a pod', who: WEB, more: {} },
  { name: 'a StatefulSet pod', who: DB, more: { controller: SET } },
])('no DEL during the grace of $name touches a record without a container', async ({ who, more }) => {
  await using made = await startAdopted(who, more);
  made.pods.end(made.pod);
  await made.del(made.pod, 'older-or-its-own');
  await made.spool.keep(delArgs('older', { podNamespace: 'prod', podName: who.name, podUID: who.uid }));
  await drainSpool(made.spool, made.releaser, pino({ level: 'silent' }));
  await made.endsHandled();
  expect(await made.records()).toMatchObject([{ spec: { state: 'Allocated', holder: { uid: who.uid } } }]);
});

test('a DEL after the object of its pod is gone frees a record without a container', async () => {
  await using made = await startAdopted();
  made.pods.remove(made.pod);
  await made.del(made.pod, 'its-own');
  expect(await made.records()).toEqual([]);
});

test('a record without a container goes to the next sandbox of its pod, and is released with it', async () => {
  await using made = await startAdopted();
  await made.del(made.pod, 'older');
  expect(await made.add(made.pod, 'c2')).toEqual(['10.0.0.10']);
  await made.del(made.pod, 'c2');
  expect(await made.records()).toHaveLength(1);
  made.pods.end(made.pod);
  await made.endsHandled();
  expect(await made.records()).toEqual([]);
});
