import { expect, test, vi } from 'vitest';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import type { Doubt } from './doubts.ts';
import { RECORDS, Referee, type SeenRecord } from './referee.ts';
import { Sandboxes } from './sandboxes.ts';

const ADDRESS = '10.60.0.10';
const HOLDER = { namespace: 'prod', name: 'web', uid: 'u1' };
const SANDBOX = { id: 'c1/eth0', node: 'n', podKey: 'prod/web', uid: 'u1', address: ADDRESS };

function recordOf(holder: object, more: object = {}, version = '1'): SeenRecord {
  const spec = { ...heldBy(specOf(ADDRESS), { ...HOLDER, ...holder }), ...more };
  return { metadata: { name: ADDRESS, uid: 'r1', resourceVersion: version }, spec } as SeenRecord;
}

function doubt(more: Partial<Doubt> = {}): Doubt {
  const untilMs = performance.now() + 60_000;
  return { why: 'a test', addresses: new Set([ADDRESS]), untilMs, overAtMs: 0, mayTake: () => false, ...more };
}

/** What the referee says after it has seen each of these lists. */
async function judge(sandboxes: Sandboxes, ...lists: SeenRecord[][]): Promise<string[]> {
  const left = [...lists];
  const list = async (path: string) => {
    if (path !== RECORDS) return [];
    return left.length > 1 ? left.shift() : left[0];
  };
  await using referee = new Referee({ list: list as never }, sandboxes);
  await vi.waitUntil(() => referee.looks > lists.length, { timeout: 20_000 });
  return [...new Set(sandboxes.violations.map(({ what }) => what))];
}

function live(): Sandboxes {
  const sandboxes = new Sandboxes();
  sandboxes.raise(SANDBOX);
  return sandboxes;
}

test('the record of a live sandbox must be there', async () => {
  expect(await judge(live(), [])).toEqual([expect.stringContaining('was freed')]);
});

test('a record that an operator deleted may be missing, but not for long', async () => {
  const early = live();
  early.doubts.open(doubt());
  expect(await judge(early, [])).toEqual([]);
  const late = live();
  late.doubts.open(doubt({ untilMs: performance.now() }));
  expect(await judge(late, [])).toHaveLength(1);
});

test('a record that was seen again must not go a second time', async () => {
  const sandboxes = live();
  sandboxes.doubts.open(doubt());
  expect(await judge(sandboxes, [recordOf({})], [])).toEqual([expect.stringContaining('was freed')]);
});

test('a list from before the end of the fault does not show that a record is back', async () => {
  const sandboxes = live();
  sandboxes.doubts.open(doubt({ overAtMs: Number.POSITIVE_INFINITY }));
  expect(await judge(sandboxes, [recordOf({})], [])).toEqual([]);
});

test('in doubt, only a pod that may take the address gets it beside a live sandbox', () => {
  const sandboxes = live();
  sandboxes.doubts.open(doubt({ mayTake: (_, uid) => uid === 'of-the-backup' }));
  sandboxes.raise({ ...SANDBOX, id: 'c2/eth0', podKey: 'prod/old', uid: 'of-the-backup' });
  expect([sandboxes.contested, sandboxes.violations.length]).toEqual([1, 0]);
  sandboxes.raise({ ...SANDBOX, id: 'c3/eth0', podKey: 'prod/new', uid: 'new' });
  expect(sandboxes.violations).not.toEqual([]);
});

test.each([
  { name: 'is never sticky', lists: [[recordOf({ sticky: true })]], what: 'sticky' },
  {
    name: 'keeps no address',
    lists: [[recordOf({})], [recordOf({ uid: undefined }, { state: 'Retained' }, '2')]],
    what: 'Retained for',
  },
  {
    name: 'gets no Retained address of its name',
    lists: [[recordOf({ uid: undefined }, { state: 'Retained' })], [recordOf({}, {}, '2')]],
    what: 'taken over',
  },
])('a pod with a forged owner $name', async ({ lists, what }) => {
  const sandboxes = new Sandboxes();
  sandboxes.noteForged('u1');
  expect(await judge(sandboxes, ...lists)).toEqual([expect.stringContaining(what)]);
});
