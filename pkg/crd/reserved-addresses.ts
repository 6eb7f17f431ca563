import type { Address, Family } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { ReservedIp } from './decode-reserved-ip.ts';

export type ReservedAddresses = Readonly<Record<Family, IntervalSet>>;

/** What no pool may give out. A SpiderReservedIP that is being deleted reserves nothing any more. */
export function reservedAddresses(all: readonly ReservedIp[]): ReservedAddresses {
  return { 4: unite(4, all), 6: unite(6, all) };
}

/** The names of those that reserve the address. */
export function reservedBy(all: readonly ReservedIp[], { family, value }: Address): string[] {
  return all.filter((it) => counts(it, family) && it.addresses.contains(value)).map(({ name }) => name);
}

function unite(family: Family, all: readonly ReservedIp[]): IntervalSet {
  return IntervalSet.of(all.filter((it) => counts(it, family)).flatMap((it) => [...it.addresses.intervals()]));
}

function counts(it: ReservedIp, family: Family): boolean {
  return it.family === family && !it.isTerminating;
}
