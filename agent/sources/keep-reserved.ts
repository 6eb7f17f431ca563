import type { ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { type ReservedAddresses, reservedAddresses } from '#pkg/crd/reserved-addresses.ts';
import type { Family } from '#pkg/ip/address.ts';
import type { CatalogSnapshot } from './pool-catalog.ts';

/** Returns the sets of the snapshot before where nothing changed, so that the views made of them stay valid. */
export function keepReserved(all: readonly ReservedIp[], before: CatalogSnapshot | null): ReservedAddresses {
  const now = reservedAddresses(all);
  const keep = (family: Family) => (before?.reserved[family].equals(now[family]) ? before.reserved : now)[family];
  return { 4: keep(4), 6: keep(6) };
}
