import { comparePoolAge } from '#pkg/crd/later-overlaps.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { SubnetPool, SubnetSituation } from './subnet-situation.ts';

export interface Parted {
  readonly situation: SubnetSituation;
  /** Auto pools that keep an address which another pool has too, because one of their pods holds it. */
  readonly contested: ReadonlySet<string>;
}

/**
 * The situation with every address in one pool, as far as auto pools can give way. Two leaders and two replicas of the webhook may
 * let pools pass that have the same address, and then the later one gives out nothing (ADR 0017). An address stays with the pool that
 * has a record of it, else with the earlier pool.
 */
export function partOverlaps(situation: SubnetSituation): Parted {
  const { pools, otherRanges } = situation;
  const all = IntervalSet.of(pools.flatMap(({ pool }) => pool.addresses.intervals()));
  const isParted = all.size === pools.reduce((sum, { pool }) => sum + pool.addresses.size, 0n);
  if (isParted && all.intersect(otherRanges).isEmpty) return { situation, contested: new Set() };
  const recorded = recordedAddresses(situation);
  let earlier = otherRanges;
  let inUse = IntervalSet.EMPTY;
  for (const set of recorded.values()) inUse = inUse.union(set);
  const contested = new Set<string>();
  const kept = new Map<string, SubnetPool>();
  for (const it of pools.toSorted(comparePoolAge)) {
    const { name, addresses, auto, isTerminating } = it.pool;
    const own = recorded.get(name) ?? IntervalSet.EMPTY;
    if (auto !== null && !isTerminating) {
      const next = addresses.subtract(earlier.union(inUse).subtract(own));
      if (!addresses.intersect(earlier).intersect(own).isEmpty) contested.add(name);
      if (next.size !== addresses.size) kept.set(name, { ...it, pool: { ...it.pool, addresses: next } });
    }
    earlier = earlier.union(addresses);
  }
  return { situation: { ...situation, pools: pools.map((it) => kept.get(it.pool.name) ?? it) }, contested };
}

/** By pool: the addresses of it that have a record of it. */
function recordedAddresses({ pools, records }: SubnetSituation): ReadonlyMap<string, IntervalSet> {
  const byPool = Map.groupBy(records, ({ pool }) => pool);
  return new Map(
    pools.map(({ pool: { name, addresses } }) => {
      const values = (byPool.get(name) ?? []).filter(({ value }) => addresses.contains(value));
      return [name, IntervalSet.of(values.map(({ value }) => ({ first: value, last: value })))];
    }),
  );
}
