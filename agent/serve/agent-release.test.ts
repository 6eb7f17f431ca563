import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { NO_METRICS } from '#agent/report/agent-metrics.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { RecordState } from '#pkg/record/ip-record.ts';
import { amended, taken } from '#test/contract/ledger-resource.ts';
import { heldBy, inState, specOf } from '#test/contract/record-spec.ts';
import { addressesOf, allRecords, V4, V6 } from '#test/support/agent-acts.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { delArgs, startMemoryAgent } from '#test/support/memory-agent.ts';
import { createMemoryLedger } from '#test/support/memory-ledger.ts';

test('DEL gives back, a second DEL and a DEL of the unknown are fine', async () => {
  await using made = await startMemoryAgent([V4, V6]);
  await addressesOf(made, 'c1');
  await made.agent.del(delArgs('c1'));
  await made.agent.del(delArgs('c1'));
  await made.agent.del(delArgs('never-there'));
  expect(await allRecords(made.ledger)).toEqual([]);
});

test('a cooldown lets an address rest; the collector ends the rest', async () => {
  let now = new Date('2026-01-01T00:00:00Z');
  const pool = buildPool({ name: 'v4', ips: ['10.0.0.10'], isDefault: true, reuseCooldownSeconds: 90 });
  await using made = await startMemoryAgent([pool], { now: () => now });
  await addressesOf(made, 'c1');
  await made.agent.del(delArgs('c1'));
  expect((await allRecords(made.ledger)).map(({ spec }) => [spec.state, spec.until, spec.holder.uid])).toEqual([
    ['Cooling', '2026-01-01T00:01:30.000Z', undefined],
  ]);
  await expect(addressesOf(made, 'c2')).rejects.toMatchObject({ reason: 'pools-exhausted' });
  now = new Date('2026-01-01T00:01:30Z');
  expect(await made.agent.collect(false)).toMatchObject({
    freed: [{ name: '10.0.0.10', because: 'its rest is over' }],
  });
  expect(await addressesOf(made, 'c2')).toEqual(['10.0.0.10/24']);
});

test('a host that was renamed still gives back what it took under its old name', async () => {
  const ledger = createMemoryLedger();
  await using before = await startMemoryAgent([V4], { ledger, node: 'old-name' });
  await addressesOf(before, 'c1');
  await using after = await startMemoryAgent([V4], { ledger, node: 'new-name' });
  await after.agent.del(delArgs('c1'));
  expect(await allRecords(ledger)).toEqual([]);
});

test('an operator releases exactly the record that was shown', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1', { requestedIPs: ['10.0.0.10'] });
  await sleep(2);
  const { records, asOfMs } = await made.agent.inspector.who('10.0.0.10', undefined);
  const shown = {
    name: '10.0.0.10',
    uid: records[0]?.uid ?? '',
    resourceVersion: records[0]?.resourceVersion ?? '',
    asOfMs,
  };
  expect(await made.agent.release({ ...shown, resourceVersion: '999' })).toEqual({
    released: false,
    because: 'changed',
  });
  expect(await made.agent.release({ ...shown, name: '10.0.0.11' })).toEqual({ released: false, because: 'gone' });
  expect(await made.agent.release(shown)).toEqual({ released: true });
  expect(await allRecords(made.ledger)).toEqual([]);
});

test.each<RecordState>(['Retained', 'Suspect', 'Cooling', 'Quarantined'])(
  'without a cluster an operator releases whatever is there, also under an old name of the host: %s',
  async (state) => {
    const ledger = createMemoryLedger();
    const spec = heldBy(specOf('10.0.0.10'), { node: 'old-name' });
    await amended(ledger, await taken(ledger, spec), inState(spec, state));
    await using made = await startMemoryAgent([V4], { ledger });
    await sleep(2);
    const { records, asOfMs } = await made.agent.inspector.who('10.0.0.10', undefined);
    const { name = '', uid = '', resourceVersion = '' } = records[0] ?? {};
    expect(await made.agent.release({ name, uid, resourceVersion, asOfMs })).toEqual({ released: true });
    expect(await allRecords(ledger)).toEqual([]);
  },
);

test('rule 8: the release of an operator does not hit a container that was answered since it was shown', async () => {
  await using made = await startMemoryAgent([V4]);
  await addressesOf(made, 'c1', { requestedIPs: ['10.0.0.10'] });
  await sleep(2);
  const { records, asOfMs } = await made.agent.inspector.who('10.0.0.10', undefined);
  await addressesOf(made, 'c1');
  const shown = {
    name: '10.0.0.10',
    uid: records[0]?.uid ?? '',
    resourceVersion: records[0]?.resourceVersion ?? '',
    asOfMs,
  };
  expect(await made.agent.release(shown)).toEqual({ released: false, because: 'changed' });
});

test('what a DEL waited for its turn is measured, and a record that was another one by then is counted', async () => {
  const below = createMemoryLedger();
  const ledger = ledgerWith(below, { release: async () => ({ done: false, because: 'changed' }) });
  const told: string[] = [];
  const metrics = {
    ...NO_METRICS,
    queueWait: (_ms: number, of = 'allocation') => void told.push(`waited ${of}`),
    releaseConflict: () => void told.push('conflict'),
  };
  await using made = await startMemoryAgent([V4], { ledger, metrics });
  await addressesOf(made, 'c1');
  await made.agent.del(delArgs('c1'));
  expect(told).toEqual(['waited allocation', 'waited release', 'conflict']);
});
