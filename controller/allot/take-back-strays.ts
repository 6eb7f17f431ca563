import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { isHeldState } from '#pkg/record/ip-record.ts';
import type { SubnetSituation } from './subnet-situation.ts';

/**
 * The situation with every auto pool as it would be if it had the addresses that its pods hold. An agent that had not yet heard that a
 * pool shrank may have given one out; no other pool has it, so the pool takes it back.
 */
export function takeBackStrays(situation: SubnetSituation): SubnetSituation {
  const { subnet, pools, otherRanges, records } = situation;
  const ofPools = IntervalSet.of(pools.flatMap(({ pool }) => pool.addresses.intervals())).union(otherRanges);
  // A pool cannot have its gateway among its addresses.
  const isFor = (value: bigint) => subnet.addresses.contains(value) && value !== subnet.gateway?.value;
  const lost = records.filter(({ value, state }) => isHeldState(state) && isFor(value) && !ofPools.contains(value));
  if (lost.length === 0) return situation;
  const byPool = Map.groupBy(lost, ({ pool }) => pool);
  const mended = pools.map((it) => {
    const strays = byPool.get(it.pool.name);
    if (strays === undefined || it.pool.auto === null || it.pool.isTerminating) return it;
    const addresses = it.pool.addresses.union(
      IntervalSet.of(strays.map(({ value }) => ({ first: value, last: value }))),
    );
    return { ...it, pool: { ...it.pool, addresses } };
  });
  return { ...situation, pools: mended };
}
