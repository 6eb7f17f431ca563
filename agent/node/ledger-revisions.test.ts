import { expect, test } from 'vitest';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';
import { heldAfterRestore, LedgerRevisions } from './ledger-revisions.ts';

const specOf = (address: string) => buildRecord({ address, holder: { name: address, uid: address } }).spec;

/** A ledger whose creates have the revisions that a test wants. */
function stage(revisions: string[], now: () => string) {
  const clock = { ms: 0 };
  const below = createMemoryLedger();
  const scripted: Ledger = ledgerWith(below, {
    create: async (spec) => {
      const outcome = await below.create(spec);
      const resourceVersion = revisions.shift() ?? '0';
      return outcome.taken ? { taken: true, record: { ...outcome.record, resourceVersion } } : outcome;
    },
    release: async (seen) => {
      const stored = await below.get(seen.name);
      return stored === null ? { done: false, because: 'gone' } : await below.release(stored);
    },
  });
  const guard = new LedgerRevisions(() => clock.ms);
  const falls: number[] = [];
  guard.onFall(() => falls.push(clock.ms));
  return { clock, below, guard, falls, ledger: heldAfterRestore(scripted, guard, async () => now()) };
}

test('a create with an older revision than one seen before gives the address back and holds new ones for a minute', async () => {
  const { ledger, below, falls, clock } = stage(['100', '40', '41'], () => '40');
  await ledger.create(specOf('10.0.0.1'));
  await expect(ledger.create(specOf('10.0.0.2'))).rejects.toMatchObject({ reason: 'ledger-restored' });
  expect(falls).toEqual([0]);
  expect(await below.get('10.0.0.2')).toBeNull();
  clock.ms = 59_999;
  await expect(ledger.create(specOf('10.0.0.3'))).rejects.toMatchObject({ reason: 'ledger-restored' });
  clock.ms = 60_000;
  expect((await ledger.create(specOf('10.0.0.3'))).taken).toBe(true);
  expect(falls).toHaveLength(1);
});

test('a record of an earlier try has an old revision, and nothing fell: the store is asked', async () => {
  const { ledger, falls } = stage(['100', '40'], () => '101');
  await ledger.create(specOf('10.0.0.1'));
  expect((await ledger.create(specOf('10.0.0.2'))).taken).toBe(true);
  expect(falls).toEqual([]);
});

test('creates that are answered out of order are no fall', async () => {
  const { ledger, falls } = stage(['101', '100'], () => '0');
  await Promise.all([ledger.create(specOf('10.0.0.1')), ledger.create(specOf('10.0.0.2'))]);
  expect(falls).toEqual([]);
});

test('while new addresses are held a holder still takes over its own', async () => {
  const { ledger, below, guard } = stage([], () => '0');
  const record = await landedAs(below, '10.0.0.1', 'Retained');
  const other = await landedAs(below, '10.0.0.2', 'Suspect');
  guard.fell();
  expect(await ledger.takeOver(record, { ...record.spec, state: 'Allocated' })).toMatchObject({ done: true });
  const next = {
    ...other.spec,
    state: 'Allocated',
    holder: { ...other.spec.holder, name: 'b' },
  } as const;
  await expect(ledger.takeOver(other, next)).rejects.toMatchObject({ reason: 'ledger-restored' });
});

test('the next pod of a holder waits too: the sandbox of a pod that the restore took away may live', async () => {
  const { ledger, guard, below } = stage([], () => '0');
  const record = await landedAs(below, '10.0.0.1', 'Retained');
  guard.fell();
  const next = { ...record.spec, state: 'Allocated', holder: { ...record.spec.holder, uid: 'next' } } as const;
  await expect(ledger.takeOver(record, next)).rejects.toMatchObject({ reason: 'ledger-restored' });
});

test.each([
  { agoMs: 20_000, heldMs: 40_000 },
  { agoMs: 90_000, heldMs: 0 },
  { agoMs: -3_600_000, heldMs: 60_000 },
])(
  'an agent that starts $agoMs ms after a restore was noticed holds new addresses for $heldMs ms',
  ({ agoMs, heldMs }) => {
    const { guard, clock } = stage([], () => '0');
    guard.resume(agoMs);
    clock.ms = heldMs - 1;
    if (heldMs > 0) expect(() => guard.throwIfHeld()).toThrow('restored from a backup');
    clock.ms = heldMs;
    expect(() => guard.throwIfHeld()).not.toThrow();
  },
);

test('after a break the store is compared once it answers', async () => {
  const { guard, falls } = stage([], () => '0');
  guard.note({ resourceVersion: '100' });
  const answers = [Promise.reject(new Error('storage is initializing')), Promise.resolve('100'), Promise.resolve('99')];
  const read = () => answers.shift() ?? Promise.reject(new Error('asked too often'));
  let breaks = 0;
  guard.afterBreak(() => {
    breaks += 1;
  });
  await guard.compare(read, async () => {});
  expect(falls).toEqual([]);
  expect(breaks).toBe(1);
  await guard.compare(read, async () => {});
  expect(falls).toEqual([0]);
});

async function landedAs(ledger: Ledger, address: string, state: 'Retained' | 'Suspect'): Promise<IpRecord> {
  const { record } = await ledger.create(specOf(address));
  const amended = record === null ? null : await ledger.amend(record, { ...record.spec, state });
  if (amended?.done !== true) throw new Error(`${address} is not ${state}`);
  return amended.record;
}
