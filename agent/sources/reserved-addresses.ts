import type { ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import type { Family } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { CatalogSnapshot } from './pool-catalog.ts';

/** Returns the previous objects if nothing changed, so that views are not rebuilt. */
export function reservedAddresses(
  all: readonly ReservedIp[],
  before: CatalogSnapshot | null,
): Record<Family, IntervalSet> {
  return { 4: reservedOf(4, all, before), 6: reservedOf(6, all, before) };
}

function reservedOf(family: Family, all: readonly ReservedIp[], before: CatalogSnapshot | null): IntervalSet {
  const counted = all.filter((it) => it.family === family && !it.isTerminating);
  const now = IntervalSet.of(counted.flatMap((it) => [...it.addresses.intervals()]));
  const earlier = before?.reserved[family];
  return earlier?.equals(now) === true ? earlier : now;
}
