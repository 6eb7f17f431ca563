import { expect, test, vi } from 'vitest';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import type { ApiObject } from './chaos-api.ts';
import type { Doubt } from './doubts.ts';
import { MachineReferee } from './machine-referee.ts';
import { ALLOCATIONS, CLAIMS, IP_ADDRESSES } from './machines.ts';
import { RECORDS, type SeenRecord } from './referee.ts';
import { Sandboxes } from './sandboxes.ts';

const ADDRESS = '10.60.0.10';
const OTHER = '10.60.0.11';
const ENDING = { deletionTimestamp: '2026-11-19T01:00:00Z' };

interface World {
  readonly addresses?: readonly ApiObject[];
  readonly claims?: readonly ApiObject[];
  readonly allocations?: readonly ApiObject[];
  readonly records?: readonly SeenRecord[];
}

function objectOf(name: string, uid: string, more: object = {}, metadata: object = {}): ApiObject {
  return { metadata: { namespace: 'machines', name, uid, ...metadata }, ...more };
}

function claim(metadata: object = {}): ApiObject {
  return objectOf('vm-0', 'c1', {}, metadata);
}

function ipAddress(address = ADDRESS, metadata: object = {}): ApiObject {
  const ownerReferences = [{ kind: 'IPAddressClaim', name: 'vm-0', uid: 'c1' }];
  return objectOf('vm-0', 'i1', { spec: { address } }, { ownerReferences, ...metadata });
}

function allocation(address = ADDRESS, phase = 'Allocated'): ApiObject {
  return objectOf('nc-0-eth0', 'a1', { status: { phase, address } });
}

function recordOf(holder: object, more: object = {}): SeenRecord {
  const spec = { ...heldBy(specOf(ADDRESS), { namespace: 'machines', ...holder }), ...more };
  return { metadata: { name: ADDRESS, uid: 'r1', resourceVersion: '1' }, spec } as SeenRecord;
}

const OF_CLAIM = { kind: 'IPAddressClaim', name: 'vm-0', uid: 'c1' };
const OF_ALLOCATION = { kind: 'IPAllocation', name: 'nc-0-eth0', uid: 'a1' };
const CLAIMED: World = { addresses: [ipAddress()], claims: [claim()] };
const ALLOCATED: World = { allocations: [allocation()] };

/** What the referee says after it has seen each of these worlds for some looks. */
async function judge(sandboxes: Sandboxes, ...worlds: readonly World[]): Promise<string[]> {
  let world: World = {};
  const list = async (path: string) => {
    const lists: Readonly<Record<string, readonly object[] | undefined>> = {
      [RECORDS]: world.records,
      [CLAIMS]: world.claims,
      [IP_ADDRESSES]: world.addresses,
      [ALLOCATIONS]: world.allocations,
    };
    return lists[path] ?? [];
  };
  await using referee = new MachineReferee({ list: list as never }, sandboxes, 5);
  for (const next of worlds) {
    world = next;
    const from = referee.looks;
    await vi.waitUntil(() => referee.looks >= from + 3, { timeout: 20_000, interval: 20 });
  }
  return sandboxes.violations.map(({ what }) => what);
}

function withPod(uid = 'p1'): Sandboxes {
  const sandboxes = new Sandboxes();
  sandboxes.raise({ id: 'c1/eth0', node: 'n', podKey: 'prod/web', uid, address: ADDRESS });
  return sandboxes;
}

function doubt(more: Partial<Doubt> = {}): Doubt {
  const untilMs = performance.now() + 60_000;
  return { why: 'a test', addresses: new Set([ADDRESS]), untilMs, overAtMs: 0, mayTake: () => false, ...more };
}

test.each([
  { name: 'a claim', world: CLAIMED, holder: OF_CLAIM },
  { name: 'an IPAllocation', world: ALLOCATED, holder: OF_ALLOCATION },
])('the address that is shown for $name has a record of exactly this holder', async ({ world, holder }) => {
  const seen = async (records: readonly SeenRecord[]) => await judge(new Sandboxes(), { ...world, records });
  expect(await seen([recordOf(holder)])).toEqual([]);
  expect(await seen([])).toEqual([expect.stringContaining('has no record')]);
  const ofSomebody = [expect.stringMatching(/the record of .* belongs to/)];
  expect(await seen([recordOf({ ...holder, uid: 'earlier' })])).toEqual(ofSomebody);
  expect(await seen([recordOf({ ...holder, kind: 'Pod' })])).toEqual(ofSomebody);
  expect(await seen([recordOf(holder, { state: 'Suspect' })])).toEqual([expect.stringContaining('is Suspect')]);
});

test.each([
  { name: 'a claim that is being deleted', world: { addresses: [ipAddress()], claims: [claim(ENDING)] } },
  {
    name: 'an IPAddress that is being deleted',
    world: { addresses: [ipAddress(ADDRESS, ENDING)], claims: [claim()] },
  },
  { name: 'an IPAllocation that is not Allocated', world: { allocations: [allocation(ADDRESS, 'Error')] } },
])('what is shown for $name needs no record', async ({ world }) => {
  expect(await judge(new Sandboxes(), world)).toEqual([]);
});

test('what is not shown before and after the list of records may have got or lost its record meanwhile', async () => {
  const sandboxes = new Sandboxes();
  let lists = 0;
  const list = async (path: string) => {
    if (path === IP_ADDRESSES) return lists++ % 2 === 0 ? [ipAddress()] : [];
    return path === CLAIMS ? [claim()] : [];
  };
  await using referee = new MachineReferee({ list: list as never }, sandboxes, 5);
  await vi.waitUntil(() => referee.looks >= 6, { timeout: 20_000 });
  expect(sandboxes.violations).toEqual([]);
});

test('a record may be missing after a restore of etcd, but not for long and not a second time', async () => {
  const early = new Sandboxes();
  early.doubts.open(doubt());
  expect(await judge(early, CLAIMED)).toEqual([]);
  const late = new Sandboxes();
  late.doubts.open(doubt({ untilMs: performance.now() }));
  expect(await judge(late, CLAIMED)).toHaveLength(1);
  const again = new Sandboxes();
  again.doubts.open(doubt());
  expect(await judge(again, { ...CLAIMED, records: [recordOf(OF_CLAIM)] }, CLAIMED)).toHaveLength(1);
});

test('a pod and a machine do not have one address', async () => {
  const world = { ...CLAIMED, records: [recordOf(OF_CLAIM)] };
  const both = 'IPAddressClaim machines/vm-0 (c1) and a live sandbox of prod/web (p1) have it';
  expect(await judge(withPod(), world)).toEqual([both]);
});

test('a machine may have the address of a pod that an operator deleted by force and whose set has used it since', async () => {
  const sandboxes = withPod();
  sandboxes.noteForced('p1');
  const [sandbox] = sandboxes.live();
  if (sandbox !== undefined) sandboxes.isHandedOn(sandbox, 'prod/web', 'p2');
  expect(await judge(sandboxes, { ...CLAIMED, records: [recordOf(OF_CLAIM)] })).toEqual([]);
});

test('in doubt, only a holder that may take the address has it beside another one', async () => {
  const world = { ...CLAIMED, records: [recordOf(OF_CLAIM)] };
  const refused = withPod();
  refused.doubts.open(doubt());
  expect(await judge(refused, world)).toHaveLength(1);
  const ofTheBackup = withPod();
  ofTheBackup.doubts.open(doubt({ mayTake: (_, uid) => uid === 'c1' }));
  expect(await judge(ofTheBackup, world)).toEqual([]);
});

test.each([
  { name: 'could not write its record back after a restore', awayUntilMs: Number.POSITIVE_INFINITY, count: 0 },
  { name: 'was back before a restore', awayUntilMs: 1, count: 1 },
])('a pod whose agent $name, and a machine with its address: $count complaints', async ({ awayUntilMs, count }) => {
  const sandboxes = withPod();
  sandboxes.doubts.open(doubt({ addresses: null, overAtMs: 2 }));
  sandboxes.doubts.noteAway('n', awayUntilMs);
  expect(await judge(sandboxes, { ...CLAIMED, records: [recordOf(OF_CLAIM)] })).toHaveLength(count);
});

test('a claim and an IPAllocation do not have one address', async () => {
  const world = { ...CLAIMED, ...ALLOCATED, records: [recordOf(OF_CLAIM)] };
  expect(await judge(new Sandboxes(), world)).toEqual(
    expect.arrayContaining([
      expect.stringContaining('shown twice: IPAddressClaim machines/vm-0 (c1) and IPAllocation'),
    ]),
  );
});

test('nobody is renumbered, unless etcd was restored meanwhile', async () => {
  const records = [recordOf(OF_CLAIM), recordOf(OF_CLAIM, { address: OTHER })];
  const worlds = [
    { ...CLAIMED, records },
    { ...CLAIMED, addresses: [], records },
    { ...CLAIMED, addresses: [ipAddress(OTHER)], records },
  ];
  expect(await judge(new Sandboxes(), ...worlds)).toEqual(['IPAddressClaim machines/vm-0 (c1) had 10.60.0.10 before']);
  const restored = new Sandboxes();
  restored.doubts.open(doubt({ addresses: null, overAtMs: Number.POSITIVE_INFINITY }));
  expect(await judge(restored, ...worlds)).toEqual([]);
});
