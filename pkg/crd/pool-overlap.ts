import { type Cidr, cidrsOverlap, formatCidr } from '#pkg/ip/cidr.ts';
import { formatRange } from '#pkg/ip/range.ts';
import type { PoolRanges } from './pool-ranges.ts';

/** Why `pool` conflicts with one of `others`, or null. Only pools of one domain and family can conflict. `others` may contain the pool itself. */
export function findOverlap(pool: PoolRanges, others: Iterable<PoolRanges>): string | null {
  for (const other of others) {
    if (other.name === pool.name || other.domain !== pool.domain || other.family !== pool.family) continue;
    const overlap = isSameNetwork(pool.subnet, other.subnet)
      ? sharedAddresses(pool, other)
      : crossingSubnets(pool, other);
    if (overlap !== null) return overlap;
  }
  return null;
}

function isSameNetwork(a: Cidr, b: Cidr): boolean {
  return a.first === b.first && a.prefix === b.prefix;
}

/** Which addresses both pools hold; null for none. Domain and family are not compared. */
export function sharedAddresses(pool: PoolRanges, other: PoolRanges): string | null {
  const [shared] = pool.addresses.intersect(other.addresses).intervals();
  if (shared === undefined) return null;
  return `pool ${pool.name} and pool ${other.name} both hold ${formatRange(pool.family, shared)}`;
}

function crossingSubnets(pool: PoolRanges, other: PoolRanges): string | null {
  if (!cidrsOverlap(pool.subnet, other.subnet)) return null;
  const inner = pool.subnet.prefix > other.subnet.prefix ? pool.subnet : other.subnet;
  const subnets = `the subnets of pool ${pool.name} (${formatCidr(pool.subnet)}) and pool ${other.name} (${formatCidr(other.subnet)})`;
  return `${subnets} differ and overlap in ${formatRange(pool.family, inner)}`;
}
