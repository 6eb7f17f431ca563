import { describe, expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { IpRecord, RecordState } from '#pkg/record/ip-record.ts';
import { buildPool, type PoolOverrides } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { planPoolStatus } from './plan-pool-status.ts';
import type { PoolFacts } from './pool-conditions.ts';
import { PoolTally } from './pool-tally.ts';

const NOW = new Date('2026-11-16T10:00:00.789Z');
const LATER = new Date('2026-11-16T11:00:00Z');

const facts = (pool: PoolOverrides = {}, more: Partial<PoolFacts> = {}): PoolFacts => ({
  name: 'pool-a',
  generation: 3,
  pool: buildPool({ ips: ['10.0.0.1-10.0.0.4'], ...pool }),
  problem: null,
  overlap: null,
  subnetOverlap: null,
  reserved: IntervalSet.EMPTY,
  ...more,
});

const record = (address: string, state: RecordState = 'Allocated'): IpRecord =>
  buildRecord({ address, state, holder: { namespace: 'prod', name: `web-${address.at(-1)}`, uid: `u-${address}` } });

const plan = (it: PoolFacts, records: readonly IpRecord[] = [], before: unknown = undefined) =>
  planPoolStatus(PoolTally.of(it, records), before, NOW);

/** As it goes over the wire and comes back. */
const stored = (status: unknown) => JSON.parse(JSON.stringify(status)) as Record<string, unknown>;

const conditionOf = (status: unknown, type: string) =>
  (stored(status)['conditions'] as { type: string }[]).find((condition) => condition.type === type);

test('addresses, counts and conditions of a pool in use', () => {
  const status = plan(facts(), [record('10.0.0.2'), record('10.0.0.1', 'Retained')]);
  expect(stored(status)).toEqual({
    totalIPCount: 4,
    allocatedIPCount: 2,
    freeIPCount: 2,
    allocatedIPs:
      '{"10.0.0.1":{"pod":"prod/web-1","podUid":"u-10.0.0.1"},"10.0.0.2":{"pod":"prod/web-2","podUid":"u-10.0.0.2"}}',
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Serving',
        message: '',
        lastTransitionTime: '2026-11-16T10:00:00Z',
        observedGeneration: 3,
      },
      {
        type: 'Exhausted',
        status: 'False',
        reason: 'AddressesLeft',
        message: '',
        lastTransitionTime: '2026-11-16T10:00:00Z',
        observedGeneration: 3,
      },
    ],
  });
});

test('an empty pool has no allocatedIPs at all', () => {
  expect(stored(plan(facts()))).not.toHaveProperty('allocatedIPs');
  expect(plan(facts())).toMatchObject({ allocatedIPCount: 0, totalIPCount: 4, freeIPCount: 4 });
});

test.each<{ state: RecordState; counted: number }>([
  { state: 'Allocated', counted: 1 },
  { state: 'Retained', counted: 1 },
  { state: 'Suspect', counted: 1 },
  { state: 'Cooling', counted: 0 },
  { state: 'Quarantined', counted: 0 },
])('$state counts as $counted allocated, and its address is not left', ({ state, counted }) => {
  const status = plan(facts({ ips: ['10.0.0.1'] }), [record('10.0.0.1', state)]);
  expect(status).toMatchObject({ allocatedIPCount: counted, freeIPCount: 0 });
  expect(status?.allocatedIPs === undefined).toBe(counted === 0);
  expect(conditionOf(status, 'Exhausted')).toMatchObject({
    status: 'True',
    reason: 'AllTaken',
    message: `of 1 addresses 1 are ${state}`,
  });
});

describe('what the status says already', () => {
  const records = [record('10.0.0.1')];
  const before = stored(plan(facts(), records));

  test('is not written again', () => {
    expect(planPoolStatus(PoolTally.of(facts(), records), before, LATER)).toBeNull();
  });

  test.each([
    { name: 'a count', edit: { allocatedIPCount: 7 } },
    { name: 'the count of free addresses', edit: { freeIPCount: 7 } },
    { name: 'the addresses', edit: { allocatedIPs: '{}' } },
    { name: 'the conditions', edit: { conditions: [] } },
  ])('is repaired where somebody changed $name', ({ edit }) => {
    const status = stored(planPoolStatus(PoolTally.of(facts(), records), { ...before, ...edit }, NOW));
    expect(status).toEqual(before);
  });

  test('keeps the time of a condition whose status stays, and the conditions of others', () => {
    const foreign = { type: 'Audited', status: 'True', reason: 'X', message: '', lastTransitionTime: 'then' };
    const conditions = [...(before['conditions'] as object[]), foreign];
    const status = planPoolStatus(PoolTally.of(facts(), []), { ...before, conditions }, LATER);
    expect(status?.conditions).toEqual(conditions);
    const full = planPoolStatus(PoolTally.of(facts({ ips: ['10.0.0.1'] }), records), before, LATER);
    expect(conditionOf(full, 'Exhausted')).toMatchObject({ lastTransitionTime: '2026-11-16T11:00:00Z' });
    expect(conditionOf(full, 'Ready')).toMatchObject({ lastTransitionTime: '2026-11-16T10:00:00Z' });
  });
});

describe('counts of large pools', () => {
  test.each([
    { subnet: 'fd00::/72', count: '72057594037927936' },
    { subnet: 'fd00::/64', count: '9223372036854775807' },
    { subnet: 'fd00::/8', count: '9223372036854775807' },
    { subnet: 'fd00::/76', count: '4503599627370496' },
  ])('$subnet holds $count', ({ subnet, count }) => {
    const it = facts({}, { pool: buildPool({ subnet }) });
    const status = plan(it);
    expect(JSON.stringify(status)).toContain(`"totalIPCount":${count},`);
    expect(planPoolStatus(PoolTally.of(it, []), stored(status), LATER)).toBeNull();
  });

  test('beyond 5,000 addresses the list is left out, and a condition says so', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => record(`10.1.${n >> 8}.${n & 255}`));
    const it = facts({ subnet: '10.1.0.0/16', ips: ['10.1.0.0-10.1.99.255'] });
    expect(Object.keys(JSON.parse(plan(it, many(5_000))?.allocatedIPs ?? '{}'))).toHaveLength(5_000);
    const status = plan(it, many(5_001));
    expect(status).toMatchObject({ allocatedIPCount: 5_001 });
    expect(status).not.toHaveProperty('allocatedIPs');
    expect(conditionOf(status, 'AllocatedIPsOmitted')).toMatchObject({ status: 'True', reason: 'TooMany' });
  });
});

describe('conditions', () => {
  test.each([
    { name: 'disabled', it: facts({ isDisabled: true }), reason: 'Disabled' },
    { name: 'terminating', it: facts({ isTerminating: true }), reason: 'Terminating' },
    { name: 'overlapping an earlier one', it: facts({}, { overlap: 'pool-a and b meet' }), reason: 'Overlap' },
    { name: 'unreadable', it: facts({}, { pool: null, problem: 'spec.ips: bad' }), reason: 'Invalid' },
  ])('a pool that is $name is not ready', ({ it, reason }) => {
    expect(conditionOf(plan(it), 'Ready')).toMatchObject({ status: 'False', reason });
  });

  test.each([
    { name: 'without addresses', it: facts({ ips: [] }), reason: 'Empty' },
    {
      name: 'with nothing but reserved addresses',
      it: facts({}, { reserved: IntervalSet.of([parseRange('10.0.0.0-10.0.0.9')]) }),
      reason: 'AllReserved',
    },
  ])('a pool $name is exhausted', ({ it, reason }) => {
    expect(conditionOf(plan(it), 'Exhausted')).toMatchObject({ status: 'True', reason });
  });

  test('a pool that was shrunk below its use names what is outside, and still counts it', () => {
    const status = plan(facts(), [record('10.0.0.9'), record('10.0.0.1'), record('10.0.0.8', 'Cooling')]);
    expect(status).toMatchObject({ allocatedIPCount: 2, totalIPCount: 4 });
    expect(conditionOf(status, 'Shrunk')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('10.0.0.9 (prod/web-9);'),
    });
    expect(conditionOf(plan(facts(), [record('10.0.0.1')]), 'Shrunk')).toBeUndefined();
  });
});
