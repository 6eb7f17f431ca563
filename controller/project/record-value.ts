import { parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { type IpRecord, isHeldState } from '#pkg/record/ip-record.ts';

const values = new WeakMap<IpRecord, bigint>();

export function isHeld({ spec }: IpRecord): boolean {
  return isHeldState(spec.state);
}

/** A record is read many times and never changes. */
export function recordValue(record: IpRecord): bigint {
  const known = values.get(record);
  if (known !== undefined) return known;
  const { value } = parseAddress(record.spec.address);
  values.set(record, value);
  return value;
}

export function addressesOf(records: readonly IpRecord[]): IntervalSet {
  return IntervalSet.of(
    records.map((record) => {
      const value = recordValue(record);
      return { first: value, last: value };
    }),
  );
}
