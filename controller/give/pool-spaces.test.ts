import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { buildClaimRecord, buildPoolFacts } from '#test/support/build-claim.ts';
import { PoolSpaces } from './pool-spaces.ts';

function build(records: readonly IpRecord[] = [], shown: Set<bigint> = new Set()) {
  const known = new Map(records.map((record) => [record.name, record]));
  const ofPool = (pool: string) => [...known.values()].filter(({ spec }) => spec.pool.name === pool);
  return {
    known,
    spaces: new PoolSpaces({ get: (name) => known.get(name) ?? null, ofPool }, { has: (_, value) => shown.has(value) }),
  };
}
const FACTS = buildPoolFacts({ ips: ['10.0.0.1-10.0.0.4'] });
const POOL = FACTS.pool ?? expect.unreachable();
const choose = (spaces: PoolSpaces) => {
  const address = spaces.choose(FACTS);
  return address === null ? null : formatAddress(address);
};

describe('the lowest free address', () => {
  test('is chosen, and nobody else gets it while its record is being created', () => {
    const { spaces } = build([buildClaimRecord('10.0.0.2')]);
    expect([choose(spaces), choose(spaces), choose(spaces), choose(spaces)]).toEqual([
      '10.0.0.1',
      '10.0.0.3',
      '10.0.0.4',
      null,
    ]);
  });

  test('is not one that is reserved, nor one that a record of another pool has', () => {
    const other = buildClaimRecord('10.0.0.2');
    const { spaces } = build([{ ...other, spec: { ...other.spec, pool: { ...other.spec.pool, name: 'old' } } }]);
    const reserved = IntervalSet.of([parseRange('10.0.0.1')]);
    expect(spaces.freeCount({ ...FACTS, reserved })).toBe(2n);
    expect(formatAddress(spaces.choose({ ...FACTS, reserved }) ?? expect.unreachable())).toBe('10.0.0.3');
  });

  test('is free again after a create that failed, and not after one that somebody else won', () => {
    const { spaces } = build();
    const address = parseAddress('10.0.0.1');
    choose(spaces);
    spaces.settle(POOL, address, 'failed');
    expect(choose(spaces)).toBe('10.0.0.1');
    spaces.settle(POOL, address, 'theirs');
    expect(choose(spaces)).toBe('10.0.0.2');
  });

  test('is free again if whoever was faster gave it back before our own create was answered', () => {
    const { spaces } = build();
    choose(spaces);
    const theirs = buildClaimRecord('10.0.0.1', { kind: 'Pod' });
    spaces.follow(null, theirs);
    spaces.follow(theirs, null);
    spaces.settle(POOL, parseAddress('10.0.0.1'), 'theirs');
    expect(choose(spaces)).toBe('10.0.0.1');
    spaces.follow(theirs, null);
    spaces.settle(POOL, parseAddress('10.0.0.1'), 'ours');
    expect(choose(spaces)).toBe('10.0.0.2');
  });

  test('comes back with the record of whoever had it, and wakes its pool once', () => {
    const record = buildClaimRecord('10.0.0.1', { kind: 'Pod' });
    const { spaces, known } = build([record]);
    expect(choose(spaces)).toBe('10.0.0.2');
    known.clear();
    expect(spaces.follow(record, null)).toEqual(['lab']);
    expect(spaces.follow(record, null)).toEqual([]);
    expect(choose(spaces)).toBe('10.0.0.1');
  });

  test('is not one that an IPAddress shows, also where it has no record yet, until the IPAddress is gone', () => {
    const shown = new Set([0x0a000001n]);
    const { spaces } = build([], shown);
    expect(choose(spaces)).toBe('10.0.0.2');
    shown.clear();
    expect(spaces.reveal('lab', 0x0a000001n)).toBe(true);
    expect(spaces.reveal('lab', 0x0a0000ffn)).toBe(false);
    expect(choose(spaces)).toBe('10.0.0.1');
  });

  test('of a pool that grew is found after it was forgotten', () => {
    const { spaces } = build();
    expect(spaces.freeCount(FACTS)).toBe(4n);
    expect(spaces.freeCount(buildPoolFacts({ ips: ['10.0.0.1-10.0.0.9'] }))).toBe(9n);
  });
});

test('whatever comes and goes, as many are free as have no record', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 6 }), fc.boolean())), (events) => {
      const { spaces, known } = build();
      spaces.freeCount(FACTS);
      for (const [last, isTaken] of events) {
        const record = buildClaimRecord(`10.0.0.${last}`);
        const before = known.get(record.name) ?? null;
        if (isTaken) known.set(record.name, record);
        else known.delete(record.name);
        if (isTaken || before !== null) spaces.follow(before, isTaken ? record : null);
      }
      const taken = [...known.keys()].filter((name) => /\.[1-4]$/.test(name)).length;
      expect(spaces.freeCount(FACTS)).toBe(BigInt(4 - taken));
    }),
  );
});
