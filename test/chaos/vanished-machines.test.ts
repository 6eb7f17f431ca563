import { expect, test } from 'vitest';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { CLAIMS } from './machines.ts';
import { RECORDS } from './referee.ts';
import { Sandboxes } from './sandboxes.ts';
import { endVanished } from './vanished-machines.ts';

const HOLDER = { kind: 'IPAddressClaim', namespace: 'machines', name: 'vm-0', uid: 'c1' } as const;
const RECORD = { metadata: { name: '10.63.0.10', uid: 'r1' }, spec: heldBy(specOf('10.63.0.10'), HOLDER) };
const TOLD = [{ reason: 'ClaimVanished', regarding: { uid: 'r1' } }];

async function end(sandboxes: Sandboxes, claims: readonly object[]): Promise<readonly string[]> {
  const lists: Readonly<Record<string, readonly object[]>> = { [RECORDS]: [RECORD], [CLAIMS]: claims };
  const removed: string[] = [];
  const list = async (path: string) => lists[path] ?? [];
  await endVanished(TOLD, { list: list as never, remove: async (path) => void removed.push(path) }, sandboxes);
  return removed;
}

test('without a restore of etcd no record is left behind', async () => {
  const sandboxes = new Sandboxes();
  await end(sandboxes, []);
  expect(sandboxes.violations).toMatchObject([{ address: '10.63.0.10', what: expect.stringContaining('left behind') }]);
});

test('after a restore the operator ends the record of a claim that is forgotten, and no other', async () => {
  const sandboxes = new Sandboxes();
  const overAtMs = performance.now();
  sandboxes.doubts.open({ why: 'a test', addresses: null, untilMs: overAtMs, overAtMs, mayTake: () => false });
  expect(await end(sandboxes, [{ metadata: { name: 'vm-0', uid: 'c2' } }])).toEqual([`${RECORDS}/10.63.0.10`]);
  expect(await end(sandboxes, [{ metadata: { name: 'vm-0', uid: 'c1' } }])).toEqual([]);
  expect(sandboxes.violations).toEqual([]);
});
