import fc from 'fast-check';
import { expect, test } from 'vitest';
import { autoPoolNames } from '#pkg/autopool/pool-name.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { RECORD_STATES } from '#pkg/record/ip-record.ts';
import { buildSituation, keyOf, manualPool, poolOf, wants } from '#test/support/build-situation.ts';
import { planAutoPools } from './plan-auto-pools.ts';
import type { SubnetPool, SubnetSituation } from './subnet-situation.ts';

const BASE = 0x0a000000n;
const APPS = ['a', 'b', 'c', 'd', 'e', 'f'];
const range = (first: bigint, last = first) => formatRange(4, { first: BASE + first, last: BASE + last });

/** Each address of a /26 belongs to one of: no one, one of the pools; with a record or not; reserved; dropped. */
const situation = fc
  .record({
    owner: fc.array(fc.integer({ min: -3, max: APPS.length }), { minLength: 60, maxLength: 60 }),
    record: fc.array(fc.option(fc.constantFrom(...RECORD_STATES), { freq: 2 }), { minLength: 60, maxLength: 60 }),
    strange: fc.array(fc.constantFrom('', '', '', '', '', 'reserved', 'dropped', 'excluded', 'foreign'), {
      minLength: 60,
      maxLength: 60,
    }),
    counts: fc.array(fc.option(fc.integer({ min: 0, max: 25 })), {
      minLength: APPS.length,
      maxLength: APPS.length,
    }),
    gateway: fc.integer({ min: 0, max: 59 }),
  })
  .map(({ owner, record, strange, counts, gateway }) => {
    const at = (wanted: (index: number) => boolean) =>
      owner.flatMap((_, index) => (wanted(index) ? [range(BigInt(index + 1))] : []));
    const hasPool = (index: number) => (owner[index] ?? -1) >= 0 && strange[index] !== 'excluded' && index !== gateway;
    const pools = [...APPS, 'manual'].flatMap((name, app) => {
      const ips = at((index) => hasPool(index) && owner[index] === app);
      if (name === 'manual') return [manualPool('manual', ips)];
      const dropped = at((index) => owner[index] === -2 && strange[index] === 'dropped' && index % APPS.length === app);
      return ips.length === 0 && app % 2 === 0
        ? []
        : [poolOf(keyOf(name), autoPoolNames(keyOf(name))[0], ips, { dropped })];
    });
    const nameOf = (index: number) =>
      pools.find(({ pool }) => pool.addresses.contains(BASE + BigInt(index + 1)))?.pool.name;
    /** The pool of a record that has an address which its pool does not have: a pool that is gone, or one that shrank. */
    const foreignOwner = (index: number) => (index % 3 === 0 ? (pools[0]?.pool.name ?? 'gone') : 'gone');
    return buildSituation({
      ips: [range(1n, 60n)],
      spec: {
        excludeIPs: at((index) => strange[index] === 'excluded'),
        gateway: range(BigInt(gateway + 1)),
      },
      reserved: at((index) => strange[index] === 'reserved'),
      pools,
      records: record.flatMap((state, index) => {
        const pool = strange[index] === 'foreign' ? foreignOwner(index) : nameOf(index);
        return state === null || pool === undefined ? [] : [{ value: BASE + BigInt(index + 1), state, pool }];
      }),
      wanted: APPS.flatMap((name, app) => {
        const count = counts[app] ?? null;
        return count === null ? [] : [wants(keyOf(name), count)];
      }),
    });
  });

/** The world after a plan was carried out. */
function carryOut(before: SubnetSituation): SubnetSituation {
  const { steps } = planAutoPools(before);
  const pools = new Map(before.pools.map((it) => [it.pool.name, it]));
  for (const step of steps) {
    if (step.do === 'delete') pools.delete(step.name);
    else {
      const old = pools.get(step.name);
      const ips = step.addresses.intervals().map((interval) => formatRange(4, interval));
      const made: SubnetPool = poolOf(step.wanted.key, step.name, ips, { number: String(step.wanted.count) });
      const lost = old === undefined ? IntervalSet.EMPTY : old.pool.addresses.subtract(step.addresses);
      pools.set(step.name, {
        ...made,
        dropped: lost.union(old?.dropped ?? IntervalSet.EMPTY).subtract(step.addresses),
      });
    }
  }
  return { ...before, pools: [...pools.values()], isPoolName: (name) => pools.has(name) };
}

const hasDeletion = (before: SubnetSituation) => planAutoPools(before).steps.some((step) => step.do === 'delete');

const check = (law: (before: SubnetSituation, after: SubnetSituation) => void) =>
  fc.assert(
    fc.property(situation, (before) => law(before, carryOut(before))),
    { numRuns: 500 },
  );

test('no address is in two pools', () => {
  check((_, { pools }) => {
    const sizes = pools.reduce((sum, { pool }) => sum + pool.addresses.size, 0n);
    expect(IntervalSet.of(pools.flatMap(({ pool }) => pool.addresses.intervals())).size).toBe(sizes);
  });
});

test('addresses that are in several pools are in one afterwards, and what is held stays', () => {
  const doubled = fc
    .tuple(situation, fc.array(fc.integer({ min: 0, max: APPS.length - 1 }), { minLength: 60, maxLength: 60 }))
    .map(([before, second]) => {
      const pools = before.pools.map((it, at): SubnetPool => {
        const { auto, name, addresses } = it.pool;
        if (auto === null) return it;
        const more = IntervalSet.of(
          second.flatMap((app, index) =>
            app === at ? [{ first: BASE + BigInt(index), last: BASE + BigInt(index) }] : [],
          ),
        );
        const inSubnet = more.intersect(before.subnet.addresses).subtract(manualOf(before));
        const all = addresses.union(inSubnet).intervals();
        const ips = all.map((interval) => formatRange(4, interval));
        const key = keyOf(APPS.find((app) => autoPoolNames(keyOf(app))[0] === name) ?? '');
        return poolOf(key, name, ips, { createdAt: `2026-11-18T10:00:0${(at * 7) % 5}Z` });
      });
      const wanted = APPS.map((name, app) => wants(keyOf(name), app * 2));
      return { ...before, pools, wanted, isPoolName: (name: string) => pools.some(({ pool }) => pool.name === name) };
    });
  fc.assert(
    fc.property(doubled, (before) => {
      const { pools } = carryOut(before);
      const sizes = pools.reduce((sum, { pool }) => sum + pool.addresses.size, 0n);
      expect(IntervalSet.of(pools.flatMap(({ pool }) => pool.addresses.intervals())).size).toBe(sizes);
      for (const { pool: name, value } of before.records) {
        const had = before.pools.some(({ pool }) => pool.name === name && pool.addresses.contains(value));
        if (had) expect(pools.find(({ pool }) => pool.name === name)?.pool.addresses.contains(value)).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

function manualOf({ pools }: SubnetSituation): IntervalSet {
  return IntervalSet.of(pools.flatMap(({ pool }) => (pool.auto === null ? pool.addresses.intervals() : [])));
}

test('a pool gets nothing that is outside of the subnet, reserved, recorded, dropped by another, or the gateway', () => {
  check((before, { pools }) => {
    for (const { pool } of pools) {
      const old = before.pools.find((it) => it.pool.name === pool.name);
      const added = pool.addresses.subtract(old?.pool.addresses ?? IntervalSet.EMPTY);
      expect(added.isSubsetOf(before.subnet.addresses)).toBe(true);
      expect(added.contains(before.subnet.gateway?.value ?? 0n)).toBe(false);
      const forbidden = [
        before.reserved,
        IntervalSet.of(before.records.map(({ value }) => ({ first: value, last: value }))),
        ...before.pools.filter((it) => it !== old).map(({ dropped }) => dropped),
      ];
      const back = IntervalSet.of(
        before.records.flatMap(({ value, pool: name }) => (name === pool.name ? [{ first: value, last: value }] : [])),
      );
      for (const set of forbidden) expect(added.subtract(back).intersect(set).isEmpty).toBe(true);
    }
  });
});

test('no address with a record leaves its pool', () => {
  check((before, after) => {
    for (const { pool, value, state } of before.records) {
      const old = before.pools.find((it) => it.pool.name === pool);
      if (old?.pool.addresses.contains(value) !== true) continue;
      const now = after.pools.find((it) => it.pool.name === pool);
      const isGone = now === undefined && !['Allocated', 'Retained', 'Suspect'].includes(state);
      expect(isGone || now?.pool.addresses.contains(value)).toBe(true);
    }
  });
});

test('the same world gives the same plan, and a plan that was carried out leaves nothing to do', () => {
  check((before, after) => {
    const shuffled = { ...before, wanted: before.wanted.toReversed(), pools: before.pools.toReversed() };
    expect(planAutoPools(shuffled)).toEqual(planAutoPools(before));
    // What a deleted pool had goes to those who lacked it, in the pass after.
    expect(planAutoPools(hasDeletion(before) ? carryOut(after) : after).steps).toEqual([]);
  });
});

test('who is short could not have been served from what is left', () => {
  check((before, after) => {
    if (hasDeletion(before)) return;
    const { shortages } = planAutoPools(before);
    expect(planAutoPools(after).shortages.map(({ wanted }) => wanted)).toEqual(shortages.map(({ wanted }) => wanted));
  });
});
