import type { RecordsView } from '#controller/project/records-view.ts';
import type { NetworkTally } from '#controller/provider-plan/network-summary.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { usableAddresses } from '#pkg/record/pool-summary.ts';
import { isHeld, recordedAddresses, recordValue } from '#pkg/record/record-value.ts';

export interface TallySources {
  readonly records: Pick<RecordsView, 'ofPool' | 'poolNames'>;
  /** Null for a pool that does not exist any more. */
  readonly poolOf: (name: string) => Pool | null;
  /** Of an IPAllocation, the NetworkConfiguration that it is for; empty if that is not known. */
  readonly configurationOf: (allocation: { readonly namespace: string; readonly name: string }) => string;
  readonly reserved: IntervalSet;
}

/** Counts the pool of a NetworkNamespace. Addresses of its range may be in records of other pools that overlap it. */
export function tallyNetwork(pool: Pool, { records, poolOf, configurationOf, reserved }: TallySources): NetworkTally {
  const own = records.ofPool(pool.name);
  const held = own
    .filter((record) => isHeld(record) && record.spec.holder.kind === 'IPAllocation')
    .toSorted((a, b) => (recordValue(a) < recordValue(b) ? -1 : 1))
    .map(({ spec }) => ({ ip: spec.address, networkConfiguration: configurationOf(spec.holder) }));
  const others = [...records.poolNames()].filter((name) => {
    const other = name === pool.name ? pool : poolOf(name);
    return name !== pool.name && (other === null || overlap(pool, other));
  });
  const taken = [...own, ...others.flatMap((name) => records.ofPool(name))].filter(({ spec }) => {
    return spec.domain === pool.domain;
  });
  return { held, available: usableAddresses(pool, reserved).subtract(recordedAddresses(pool.family, taken)).size };
}

/** Whether a number of one is a number of the other. */
export function overlap(one: Pool, other: Pool): boolean {
  if (one.domain !== other.domain || one.family !== other.family) return false;
  return !one.addresses.intersect(other.addresses).isEmpty;
}
