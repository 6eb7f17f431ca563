import { expect, test, vi } from 'vitest';
import type { ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { NO_PROBING } from '#test/support/memory-agent.ts';
import { type MemoryClusterAgent, startMemoryClusterAgent } from '#test/support/memory-cluster-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { ScriptedProber } from '#test/support/scripted-prober.ts';

const POOL = buildPool({ name: 'v4', ips: ['10.0.0.10-10.0.0.19'], isDefault: true });
const CLOSED = { ...POOL, isDisabled: true };
const OPEN = buildPool({ name: 'other', subnet: '10.9.0.0/24', isDefault: true });
const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 's-1' };
const PROBING = { ...NO_PROBING, detectConflict: true };
const SQUATTED = { kind: 'conflict', mac: '02:00:00:00:00:99' } as const;
const VMI = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'v-1' };

function reserve(address: string): ReservedIp {
  return { name: 'kept', family: 4, addresses: IntervalSet.of([parseRange(address)]), isTerminating: false };
}

/** Writes down what the ledger is asked. */
function counted(below: Ledger, calls: string[]): Ledger {
  const note = <A extends unknown[], R>(name: string, method: (...args: A) => R) => {
    return (...args: A): R => {
      calls.push(name);
      return method.apply(below, args);
    };
  };
  return ledgerWith(below, {
    create: note('create', below.create),
    takeOver: note('takeOver', below.takeOver),
    amend: note('amend', below.amend),
    release: note('release', below.release),
    get: note('get', below.get),
    byHolder: note('byHolder', below.byHolder),
  });
}

/** db-0 lived in c1 and is gone; its address waits. */
async function retained(made: MemoryClusterAgent, name = 'db-0'): Promise<string[]> {
  const pod = made.pods.put(name, { uid: 'first', controller: SET });
  const addresses = await made.add(pod, 'c1');
  made.pods.end(pod);
  await made.del(pod, 'c1');
  expect(await made.records()).toMatchObject([{ spec: { state: 'Retained' } }]);
  return addresses;
}

test('the next pod of the name takes the address over: one list, one read of the pod, one update, in this order', async () => {
  const calls: string[] = [];
  await using made = await startMemoryClusterAgent([POOL], { ledger: counted(createMemoryLedger(), calls) });
  const before = await retained(made, 'db-3'); // ordinals may start anywhere
  const next = made.pods.put('db-3', { uid: 'second', controller: SET });
  calls.length = 0;
  expect(await made.add(next, 'c2')).toEqual(before);
  expect(calls).toEqual(['byHolder', 'takeOver']);
  expect(made.pods.reads).toEqual(['db-3']);
  const [record] = await made.records();
  expect(record?.spec).toMatchObject({
    state: 'Allocated',
    holder: { uid: 'second', containerID: 'c2', attachGeneration: 2 },
  });
});

test('a first pod lists once and takes what is free', async () => {
  const calls: string[] = [];
  await using made = await startMemoryClusterAgent([POOL], { ledger: counted(createMemoryLedger(), calls) });
  await made.add(made.pods.put('db-0', { controller: SET }), 'c1');
  expect(calls).toEqual(['byHolder', 'create']);
});

test('a take-over that met a change of the record is tried again from the list on', async () => {
  const below = createMemoryLedger();
  let isTouched = false;
  const ledger = ledgerWith(below, {
    takeOver: async (seen, next) => {
      if (!isTouched) await below.amend(seen, { ...seen.spec, holder: { ...seen.spec.holder, attachGeneration: 5 } });
      isTouched = true;
      return await below.takeOver(seen, next);
    },
  });
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const before = await retained(made);
  expect(await made.add(made.pods.put('db-0', { uid: 'second', controller: SET }), 'c2')).toEqual(before);
  expect(await made.records()).toMatchObject([{ spec: { holder: { uid: 'second', attachGeneration: 6 } } }]);
});

test('a record that changes under every try ends as address-held, and no second address is taken', async () => {
  const below = createMemoryLedger();
  const ledger = ledgerWith(below, { takeOver: async () => ({ done: false, because: 'changed' }) });
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  await retained(made);
  const next = made.pods.put('db-0', { uid: 'second', controller: SET });
  await expect(made.add(next, 'c2')).rejects.toMatchObject({ reason: 'address-held' });
  expect(await made.records()).toHaveLength(1);
});

test('a pool that is no candidate any more: a new address, and the old record is left to the controller', async () => {
  await using made = await startMemoryClusterAgent([POOL]);
  const before = await retained(made);
  made.catalog.change([CLOSED, OPEN]);
  const after = await made.add(made.pods.put('db-0', { uid: 'second', controller: SET }), 'c2');
  expect(after).not.toEqual(before);
  expect(after[0]).toMatch(/^10\.9\.0\./);
  expect((await made.records()).map(({ spec }) => spec.state).sort()).toEqual(['Allocated', 'Retained']);
});

test('an address that its pool does not have any more is not taken over', async () => {
  await using made = await startMemoryClusterAgent([POOL]);
  const [before = ''] = await retained(made);
  const ips = ['10.0.0.10-10.0.0.14', '10.0.0.15-10.0.0.19'].filter(
    (range) => range.includes('.14') !== Number(before.split('.')[3]) < 15,
  );
  made.catalog.change([buildPool({ name: 'v4', ips, isDefault: true })]);
  expect(await made.add(made.pods.put('db-0', { uid: 'second', controller: SET }), 'c2')).not.toEqual([before]);
});

test('an address that waits in a pool that is no candidate any more does not hide the one that the pod had last', async () => {
  await using made = await startMemoryClusterAgent([POOL]);
  const [old] = await retained(made);
  made.catalog.change([CLOSED, OPEN]);
  const second = made.pods.put('db-0', { uid: 'second', controller: SET });
  const last = await made.add(second, 'c2');
  made.pods.end(second);
  await made.del(second, 'c2');
  expect(await made.add(made.pods.put('db-0', { uid: 'third', controller: SET }), 'c3')).toEqual(last);
  const states = (await made.records()).map(({ spec }) => [spec.address, spec.state]);
  expect(states).toEqual([
    [old, 'Retained'],
    [last[0], 'Allocated'],
  ]);
});

/** Records that pods of db-0 left behind, listed in this order. */
async function leave({ ledger }: MemoryClusterAgent, left: Readonly<Record<string, IpRecord['spec']['state']>>) {
  for (const [address, state] of Object.entries(left)) {
    const pool = { kind: 'SpiderIPPool', name: address.startsWith('10.9.') ? 'other' : 'v4', uid: 'p' } as const;
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' };
    const holder = { kind: 'Pod', namespace: 'prod', name: 'db-0', uid: 'first', node: 'worker-9', owner } as const;
    const outcome = await ledger.create(buildRecord({ address, pool, holder }).spec);
    if (!outcome.taken) throw new Error(`${address} is taken`);
    await ledger.amend(outcome.record, { ...outcome.record.spec, state });
  }
}

test.each([
  {
    name: 'a Suspect address that is in use is passed over for the one that waits',
    left: { '10.0.0.11': 'Suspect', '10.0.0.12': 'Retained' },
    used: ['10.0.0.11'],
    taken: '10.0.0.12',
  },
  {
    name: 'a Suspect address that nobody uses still comes after the one that waits',
    left: { '10.0.0.11': 'Suspect', '10.0.0.12': 'Retained' },
    used: [],
    taken: '10.0.0.12',
  },
  {
    name: 'of two Suspect addresses the one that nobody uses is taken',
    left: { '10.0.0.11': 'Suspect', '10.0.0.12': 'Suspect' },
    used: ['10.0.0.11'],
    taken: '10.0.0.12',
  },
  {
    name: 'four Suspect addresses in use are no reason to fail',
    left: { '10.0.0.11': 'Suspect', '10.0.0.12': 'Suspect', '10.0.0.13': 'Suspect', '10.0.0.14': 'Suspect' },
    used: ['10.0.0.11', '10.0.0.12', '10.0.0.13'],
    taken: '10.0.0.14',
  },
] as const)('$name', async ({ left, used, taken }) => {
  const prober = new ScriptedProber();
  await using made = await startMemoryClusterAgent([POOL], { prober });
  await leave(made, left);
  for (const address of used) prober.verdicts[address] = SQUATTED;
  expect(await made.add(made.pods.put('db-0', { controller: SET }), 'c1')).toEqual([taken]);
});

test('its own Suspect address is taken after three silent rounds, as by anybody', async () => {
  const prober = new ScriptedProber();
  await using made = await startMemoryClusterAgent([POOL], { prober });
  await leave(made, { '10.0.0.11': 'Suspect' });
  expect(await made.add(made.pods.put('db-0', { controller: SET }), 'c1')).toEqual(['10.0.0.11']);
  expect(prober.probed).toEqual(['10.0.0.11', '10.0.0.11', '10.0.0.11']);
});

test('the call waits for the address that it may have, and not for one of a pool that is no candidate any more', async () => {
  await using made = await startMemoryClusterAgent([CLOSED, OPEN]);
  await leave(made, { '10.0.0.11': 'Allocated', '10.9.0.11': 'Allocated' });
  const next = made.pods.put('db-0', { uid: 'second', controller: SET });
  await expect(made.add(next, 'c2')).rejects.toThrow('10.9.0.11 of prod/db-0 is still held');
});

test('while the pod before is not proven to be gone the call waits, then says who holds the address and where', async () => {
  const ledger = createMemoryLedger();
  await using elsewhere = await startMemoryClusterAgent([POOL], { ledger, node: 'worker-9' });
  const [address] = await elsewhere.add(elsewhere.pods.put('db-0', { uid: 'first', controller: SET }), 'c1');
  await using made = await startMemoryClusterAgent([POOL], { ledger });
  const next = made.pods.put('db-0', { uid: 'second', controller: SET });
  const failed = await made.add(next, 'c2').catch((thrown: unknown) => thrown);
  expect(failed).toBeInstanceOf(IpamError);
  expect(failed).toMatchObject({ reason: 'address-held' });
  for (const word of [address, 'prod/db-0', 'first', 'worker-9']) expect(String(failed)).toContain(word);
  expect(await made.records()).toHaveLength(1);
});

test('it comes over as soon as the controller moves it to Retained; until then only its own record is read', async () => {
  const calls: string[] = [];
  const ledger = counted(createMemoryLedger(), calls);
  await using elsewhere = await startMemoryClusterAgent([POOL], { ledger, node: 'worker-9' });
  const before = await elsewhere.add(elsewhere.pods.put('db-0', { uid: 'first', controller: SET }), 'c1');
  await using made = await startMemoryClusterAgent([POOL], { ledger, exhaustedWaitMs: 20_000 });
  calls.length = 0;
  const adding = made.add(made.pods.put('db-0', { uid: 'second', controller: SET }), 'c2');
  await vi.waitUntil(() => calls.length === 3, { timeout: 10_000 });
  expect(calls).toEqual(['byHolder', 'get', 'get']);
  const [record] = await made.records();
  if (record === undefined) throw new Error('the record of db-0 is missing');
  await ledger.amend(record, { ...record.spec, state: 'Retained' });
  expect(await adding).toEqual(before);
  expect(calls.filter((call) => call === 'byHolder')).toHaveLength(2);
  expect(calls.at(-1)).toBe('takeOver');
});

test('a call that waits for the pod before ends when the agent stops, and the next agent serves it', async () => {
  const calls: string[] = [];
  const ledger = counted(createMemoryLedger(), calls);
  await using elsewhere = await startMemoryClusterAgent([POOL], { ledger, node: 'worker-9' });
  const before = await elsewhere.add(elsewhere.pods.put('db-0', { uid: 'first', controller: SET }), 'c1');
  await using made = await startMemoryClusterAgent([POOL], { ledger, exhaustedWaitMs: 1_000_000 });
  const second = made.pods.put('db-0', { uid: 'second', controller: SET });
  calls.length = 0;
  const adding = made.add(second, 'c2', { timeoutMs: 1_000_000 });
  await vi.waitUntil(() => calls.includes('get'), { timeout: 10_000 });
  made.stopWaiting();
  await expect(adding).rejects.toMatchObject({ reason: 'agent-unavailable' });
  const [record] = await made.records();
  if (record === undefined) throw new Error('the record of db-0 is missing');
  await ledger.amend(record, { ...record.spec, state: 'Retained' });
  await using restarted = await startMemoryClusterAgent([POOL], { ledger, pods: made.pods });
  expect(await restarted.add(second, 'c2')).toEqual(before);
});

test('a pod that was replaced while its ADD was under way takes nothing over', async () => {
  await using made = await startMemoryClusterAgent([POOL], { isStillAlive: async () => false });
  await retained(made);
  const next = made.pods.put('db-0', { uid: 'second', controller: SET });
  await expect(made.add(next, 'c2')).rejects.toThrow('prod/db-0 with UID second is gone');
  expect(await made.records()).toMatchObject([{ spec: { state: 'Retained', holder: { name: 'db-0' } } }]);
});

test('a foreign host on a sticky address fails the ADD and the record stays', async () => {
  const prober = new ScriptedProber();
  const probeSettings = { ...NO_PROBING, detectConflict: true };
  await using made = await startMemoryClusterAgent([POOL], { prober, probeSettings });
  const [address = ''] = await retained(made);
  prober.verdicts[address] = { kind: 'conflict', mac: '02:00:00:00:00:99' };
  const next = made.pods.put('db-0', { uid: 'second', controller: SET });
  await expect(made.add(next, 'c2')).rejects.toMatchObject({ reason: 'sticky-address-conflict' });
  expect(await made.records()).toMatchObject([{ spec: { address, state: 'Allocated', holder: { uid: 'second' } } }]);
});

test('a foreign host on a sticky address fails every further ADD too: what the pod before was answered says nothing', async () => {
  const prober = new ScriptedProber();
  await using made = await startMemoryClusterAgent([POOL], { prober, probeSettings: PROBING });
  const [address = ''] = await made.add(made.pods.put('db-0', { uid: 'first', controller: SET }), 'c1');
  const [held] = await made.records();
  // The controller, without a DEL of this node.
  if (held !== undefined) await made.ledger.amend(held, { ...held.spec, state: 'Retained' });
  prober.verdicts[address] = SQUATTED;
  const next = made.pods.put('db-0', { uid: 'second', controller: SET });
  for (const container of ['c2', 'c2', 'c3']) {
    await expect(made.add(next, container)).rejects.toMatchObject({ reason: 'sticky-address-conflict' });
  }
  delete prober.verdicts[address];
  expect(await made.add(next, 'c3')).toEqual([address]);
});

test('Retained without proof: a pod that lives on elsewhere keeps its address, whatever the switch says', async () => {
  const prober = new ScriptedProber();
  await using made = await startMemoryClusterAgent([POOL], { prober, probeSettings: NO_PROBING });
  const [address = ''] = await made.add(made.pods.put('db-0', { uid: 'first', controller: SET }), 'c1');
  const [held] = await made.records();
  // The controller, of a pod that was deleted by force on a node that is away.
  if (held !== undefined) await made.ledger.amend(held, { ...held.spec, state: 'Retained' });
  const next = made.pods.put('db-0', { uid: 'second', controller: SET });
  prober.verdicts[address] = SQUATTED;
  await expect(made.add(next, 'c2')).rejects.toMatchObject({ reason: 'sticky-address-conflict' });
  expect(await made.records()).toMatchObject([{ spec: { address, state: 'Retained', holder: { uid: 'first' } } }]);
  delete prober.verdicts[address];
  expect(await made.add(next, 'c2')).toEqual([address]);
});

test('Retained without proof: a router that answers for every address does not count where the pool says so', async () => {
  const prober = new ScriptedProber({ '10.0.0.1': SQUATTED });
  const pool = buildPool({ ...POOL, ips: ['10.0.0.10-10.0.0.19'], subnet: '10.0.0.0/24', gateway: '10.0.0.1' });
  await using made = await startMemoryClusterAgent([pool], { prober, probeSettings: NO_PROBING });
  const [address = ''] = await made.add(made.pods.put('db-0', { uid: 'first', controller: SET }), 'c1');
  const [held] = await made.records();
  if (held !== undefined) await made.ledger.amend(held, { ...held.spec, state: 'Retained' });
  const next = made.pods.put('db-0', { uid: 'second', controller: SET });
  prober.verdicts[address] = SQUATTED;
  await expect(made.add(next, 'c2')).rejects.toMatchObject({
    reason: 'sticky-address-conflict',
    message: expect.stringContaining('set the annotation ipledger.io/proxy-arp: "true" on pool v4'),
  });
  made.catalog.change([{ ...pool, hasProxyArp: true }]);
  prober.verdicts[address] = { kind: 'conflict', mac: '02:00:00:00:00:77' };
  await expect(made.add(next, 'c2')).rejects.toMatchObject({ reason: 'sticky-address-conflict' });
  prober.verdicts[address] = SQUATTED;
  expect(await made.add(next, 'c2')).toEqual([address]);
});

test('an address that was reserved since is not taken back: the pod gets another, and the old one waits for its end', async () => {
  await using made = await startMemoryClusterAgent([POOL]);
  const [before = ''] = await retained(made);
  made.catalog.change([POOL], [reserve(before)]);
  const after = await made.add(made.pods.put('db-0', { uid: 'second', controller: SET }), 'c2');
  expect(after).not.toEqual([before]);
  const states = (await made.records()).map(({ spec }) => [spec.address, spec.state]);
  expect(states).toContainEqual([before, 'Retained']);
  expect(states).toContainEqual([after[0], 'Allocated']);
});

test('an address that a lost answer left with its pod is probed before it is given', async () => {
  const prober = new ScriptedProber();
  const below = createMemoryLedger();
  const lostAnswer: Ledger['takeOver'] = async (seen, next) => {
    await below.takeOver(seen, next);
    throw new IpamError('outcome-unknown', 'the API server does not answer');
  };
  const ledger = ledgerWith(below, { takeOver: lostAnswer });
  await using made = await startMemoryClusterAgent([POOL], { ledger, prober, probeSettings: PROBING });
  const [address = ''] = await retained(made);
  const next = made.pods.put('db-0', { uid: 'second', controller: SET });
  await expect(made.add(next, 'c2')).rejects.toThrow('does not answer');
  prober.verdicts[address] = SQUATTED;
  await expect(made.add(next, 'c2')).rejects.toMatchObject({ reason: 'sticky-address-conflict' });
  expect(await made.records()).toMatchObject([{ spec: { address, state: 'Allocated', holder: { uid: 'second' } } }]);
});

test("a migration target is answered with its machine's record, without a write, a probe or an announcement", async () => {
  const calls: string[] = [];
  const ledger = createMemoryLedger();
  const probing = { probeSettings: { ...NO_PROBING, detectConflict: true } };
  await using source = await startMemoryClusterAgent([POOL], { ledger, node: 'worker-9' });
  const running = source.pods.put('virt-launcher-vm-aaaaa', { controller: VMI });
  const before = await source.add(running, 'c1');
  const prober = new ScriptedProber();
  await using made = await startMemoryClusterAgent([POOL], { ledger: counted(ledger, calls), prober, ...probing });
  const annotations = { 'kubevirt.io/migrationJobName': 'job-1' };
  const target = made.pods.put('virt-launcher-vm-bbbbb', { controller: VMI, annotations });
  expect(await made.add(target, 'c2')).toEqual(before);
  expect(calls).toEqual(['byHolder']);
  expect([prober.probed, prober.announced]).toEqual([[], []]);
  await made.del(target, 'c2');
  expect(await made.records()).toMatchObject([
    { spec: { state: 'Allocated', holder: { kind: 'VirtualMachineInstance', name: 'vm', uid: running.uid } } },
  ]);
});

test('a migration target is answered even if the pool is closed to new pods by now', async () => {
  const ledger = createMemoryLedger();
  await using source = await startMemoryClusterAgent([POOL], { ledger, node: 'worker-9' });
  const before = await source.add(source.pods.put('virt-launcher-vm-aaaaa', { controller: VMI }), 'c1');
  await using made = await startMemoryClusterAgent([{ ...POOL, isDisabled: true }], { ledger });
  const annotations = { 'kubevirt.io/migrationJobName': 'job-1' };
  const target = made.pods.put('virt-launcher-vm-bbbbb', { controller: VMI, annotations });
  expect(await made.add(target, 'c2')).toEqual(before);
});
