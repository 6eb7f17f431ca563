import { type Family, parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { type IpRecord, isHeldState, recordFamily } from './ip-record.ts';

export function isHeld({ spec }: IpRecord): boolean {
  return isHeldState(spec.state);
}

/** The address as a number. */
export function recordValue({ spec }: Pick<IpRecord, 'spec'>): bigint {
  return parseAddress(spec.address).value;
}

/** The addresses of that family that have a record. */
export function recordedAddresses(family: Family, records: readonly IpRecord[]): IntervalSet {
  return IntervalSet.of(
    records
      .filter((record) => recordFamily(record) === family)
      .map((record) => {
        const value = recordValue(record);
        return { first: value, last: value };
      }),
  );
}
