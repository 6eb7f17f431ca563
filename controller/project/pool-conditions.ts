import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { recordValue } from '#pkg/record/record-value.ts';
import { listSome } from '#pkg/text/text-list.ts';
import { MOST_ENTRIES } from './allocated-ips.ts';
import type { WantedCondition } from './condition.ts';
import type { PoolTally } from './pool-tally.ts';

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
export function poolConditions(tally: PoolTally): WantedCondition[] {
  const { facts } = tally;
  const verdicts: Record<(typeof POOL_CONDITIONS)[number], Verdict | null> = {
    Ready: readiness(facts),
    Exhausted: judgeExhausted(tally),
    Shrunk: judgeShrunk(tally),
    AllocatedIPsOmitted: judgeOmitted(tally),
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

function judgeExhausted({ facts: { pool }, usable, available, takenByState }: PoolTally): Verdict {
  if (pool === null || usable === null) return { status: 'Unknown', reason: 'Invalid', message: '' };
  if (pool.addresses.isEmpty) {
    return { status: 'True', reason: 'Empty', message: 'spec.ips less spec.excludeIPs is empty' };
  }
  if (usable.isEmpty) {
    return { status: 'True', reason: 'AllReserved', message: 'all addresses are reserved by SpiderReservedIPs' };
  }
  if (available > 0n) return { status: 'False', reason: 'AddressesLeft', message: '' };
  return { status: 'True', reason: 'AllTaken', message: `of ${usable.size} addresses ${sayCounts(takenByState)}` };
}

function judgeShrunk({ outside }: PoolTally): Verdict | null {
  if (outside.length === 0) return null;
  const names = outside
    .toSorted((a, b) => (recordValue(a) < recordValue(b) ? -1 : 1))
    .map(({ spec: { address, holder } }) => `${address} (${holder.namespace}/${holder.name})`);
  const message = `in use and no longer in the pool: ${listSome(names, 10)}; they stay with their holders and are not given out again`;
  return { status: 'True', reason: 'AddressesInUse', message };
}

function judgeOmitted({ held }: PoolTally): Verdict | null {
  if (held !== null) return null;
  const message = `status.allocatedIPs is left out beyond ${MOST_ENTRIES} entries; the records have them all: kubectl get iprecords`;
  return { status: 'True', reason: 'TooMany', message };
}

/** It is served all the same: only its subnet counts wrong. */
function judgeSubnetOverlap({ subnetOverlap }: PoolFacts): Verdict | null {
  return subnetOverlap === null ? null : { status: 'True', reason: 'Later', message: subnetOverlap };
}

function sayCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([state, count]) => `${count} are ${state}`)
    .join(', ');
}
