import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { type AddressRange, parseRange } from '#pkg/ip/range.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { DOMAIN_ANNOTATION, decodeDomain } from './decode-domain.ts';
import { decodeSubnet } from './decode-network.ts';
import { decodeObject } from './decode-object.ts';
import { decodePool } from './decode-pool.ts';

/** The part of a pool that decides whether it can stand beside another. */
export type PoolRanges = Pick<Pool, 'name' | 'uid' | 'domain' | 'family' | 'subnet' | 'addresses'>;

/**
 * The ranges of a pool, also of one that cannot be decoded: it gives out nothing, but it will again once it is repaired, so its
 * ranges are not free for another pool. A range that is wrong is left out. Null: not even its network can be read.
 */
export function readPoolRanges(value: unknown): PoolRanges | null {
  return attempt(() => decodePool(value)) ?? attempt(() => readSome(value));
}

function readSome(value: unknown): PoolRanges {
  const { metadata, spec } = decodeObject(value, 'SpiderIPPool');
  const subnet = decodeSubnet(spec['subnet'], 'spec.subnet');
  const ranges = (list: unknown) =>
    IntervalSet.of(readRanges(list).filter(({ family }) => family === subnet.family)).intersect(
      IntervalSet.of([subnet]),
    );
  return {
    name: metadata.name,
    uid: metadata.uid,
    family: subnet.family,
    subnet,
    addresses: ranges(spec['ips']).subtract(ranges(spec['excludeIPs'])),
    domain: attempt(() => decodeDomain(metadata.annotations)) ?? String(metadata.annotations[DOMAIN_ANNOTATION]),
  };
}

function readRanges(list: unknown): AddressRange[] {
  const items: unknown[] = Array.isArray(list) ? list : [];
  return items.flatMap((item) => (typeof item === 'string' ? (attempt(() => parseRange(item)) ?? []) : []));
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
