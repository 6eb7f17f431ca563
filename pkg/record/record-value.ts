import { type Family, parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { type IpRecord, isHeldState, recordFamily } from './ip-record.ts';

const values = new WeakMap<IpRecord, bigint>();

export function isHeld({ spec }: IpRecord): boolean {
  return isHeldState(spec.state);
}

/** The address as a number. It is kept: a record is read many times and never changes. */
export function recordValue(record: IpRecord): bigint {
  const known = values.get(record);
  if (known !== undefined) return known;
  const { value } = parseAddress(record.spec.address);
  values.set(record, value);
  return value;
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
