import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { usableAddresses } from '#pkg/record/pool-summary.ts';
import { isHeld, recordedAddresses, recordValue } from '#pkg/record/record-value.ts';
import { listSome } from '#pkg/text/text-list.ts';
import { MOST_ENTRIES } from './allocated-ips.ts';
import type { WantedCondition } from './condition.ts';

export const POOL_CONDITIONS = ['Ready', 'Exhausted', 'Shrunk', 'AllocatedIPsOmitted', 'SubnetOverlap'] as const;

export interface PoolFacts {
  readonly name: string;
  readonly generation: number;
  /** Null: the spec cannot be read, and `problem` says why. */
  readonly pool: Pool | null;
  readonly problem: string | null;
  /** Why it conflicts with an earlier pool; else null. */
  readonly overlap: string | null;
  /** Why it contradicts an earlier subnet; else null. */
  readonly subnetOverlap: string | null;
  /** The reserved addresses of its family. */
  readonly reserved: IntervalSet;
}

type Verdict = Omit<WantedCondition, 'observedGeneration' | 'type'>;

/** Ready and Exhausted are always there, the other conditions only if they are true. */
export function poolConditions(facts: PoolFacts, records: readonly IpRecord[]): WantedCondition[] {
  const verdicts: Record<(typeof POOL_CONDITIONS)[number], Verdict | null> = {
    Ready: readiness(facts),
    Exhausted: judgeExhausted(facts, records),
    Shrunk: judgeShrunk(facts, records),
    AllocatedIPsOmitted: judgeOmitted(records),
    SubnetOverlap: judgeSubnetOverlap(facts),
  };
  return POOL_CONDITIONS.flatMap((type) => {
    const verdict = verdicts[type];
    return verdict === null ? [] : [{ type, ...verdict, observedGeneration: facts.generation }];
  });
}

/** Whether the pool gives out addresses, if it has free ones. */
export function readiness({ pool, problem, overlap }: PoolFacts): Verdict {
  const no = (reason: string, message: string): Verdict => ({ status: 'False', reason, message });
  if (pool === null) return no('Invalid', problem ?? 'the spec cannot be read');
  if (pool.isTerminating) return no('Terminating', 'nothing new is given out; it goes when the last address is back');
  if (overlap !== null) return no('Overlap', `${overlap}; the earlier pool has them`);
  if (pool.isDisabled) return no('Disabled', 'spec.disable is true');
  return { status: 'True', reason: 'Serving', message: '' };
}

function judgeExhausted({ pool, reserved }: PoolFacts, records: readonly IpRecord[]): Verdict {
  if (pool === null) return { status: 'Unknown', reason: 'Invalid', message: '' };
  const { addresses } = pool;
  if (addresses.isEmpty) return { status: 'True', reason: 'Empty', message: 'spec.ips less spec.excludeIPs is empty' };
  const usable = usableAddresses(pool, reserved);
  if (usable.isEmpty) {
    return { status: 'True', reason: 'AllReserved', message: 'all addresses are reserved by SpiderReservedIPs' };
  }
  // With fewer records than addresses it cannot be full, so the sets are only compared near the end.
  const isFull =
    BigInt(records.length) >= usable.size && usable.subtract(recordedAddresses(pool.family, records)).isEmpty;
  if (!isFull) return { status: 'False', reason: 'AddressesLeft', message: '' };
  const inside = records.filter((record) => usable.contains(recordValue(record)));
  return { status: 'True', reason: 'AllTaken', message: `of ${usable.size} addresses ${countByState(inside)}` };
}

function judgeShrunk({ pool }: PoolFacts, records: readonly IpRecord[]): Verdict | null {
  if (pool === null) return null;
  const outside = records.filter((record) => isHeld(record) && !pool.addresses.contains(recordValue(record)));
  if (outside.length === 0) return null;
  const names = outside
    .toSorted((a, b) => (recordValue(a) < recordValue(b) ? -1 : 1))
    .map(({ spec: { address, holder } }) => `${address} (${holder.namespace}/${holder.name})`);
  const message = `in use and no longer in the pool: ${listSome(names, 10)}; they stay with their holders and are not given out again`;
  return { status: 'True', reason: 'AddressesInUse', message };
}

function judgeOmitted(records: readonly IpRecord[]): Verdict | null {
  const count = records.filter(isHeld).length;
  if (count <= MOST_ENTRIES) return null;
  const message = `status.allocatedIPs is left out beyond ${MOST_ENTRIES} entries; the records tell: kubectl get iprecords`;
  return { status: 'True', reason: 'TooMany', message };
}

/** It is served all the same: only its subnet counts wrong. */
function judgeSubnetOverlap({ subnetOverlap }: PoolFacts): Verdict | null {
  return subnetOverlap === null ? null : { status: 'True', reason: 'Later', message: subnetOverlap };
}

function countByState(records: readonly IpRecord[]): string {
  const counts = new Map<string, number>();
  for (const { spec } of records) counts.set(spec.state, (counts.get(spec.state) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([state, count]) => `${count} are ${state}`)
    .join(', ');
}
