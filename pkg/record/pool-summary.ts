import { formatCidr } from '#pkg/ip/cidr.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';

/** All addresses that could ever be given out. */
export function usableAddresses({ addresses }: Pool, reserved: IntervalSet): IntervalSet {
  return addresses.subtract(reserved);
}

/**
 * `free`: how many of the usable addresses are in no record, whatever its state. Counts are decimal text: a pool may hold more
 * than 2^53 addresses. `total` is `reserved` + `used` + `free`; a record outside of the usable addresses is not counted.
 */
export function summarizePool(pool: Pool, usable: IntervalSet, free: bigint) {
  const total = pool.addresses.size;
  return {
    name: pool.name,
    family: pool.family,
    subnet: formatCidr(pool.subnet),
    domain: pool.domain,
    total: String(total),
    used: String(usable.size - free),
    free: String(free),
    reserved: String(total - usable.size),
    isDefault: pool.isDefault,
    isDisabled: pool.isDisabled,
  };
}
