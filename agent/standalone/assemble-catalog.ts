import type { ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import { findOverlap } from '#pkg/crd/pool-overlap.ts';
import type { Family } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { CatalogSnapshot } from '../pool-catalog.ts';
import type { PoolFile } from './pool-files.ts';

/**
 * One catalog from all files. A pool that contradicts another is left out and reported: the one that was in use
 * before wins, then the one that comes first.
 */
export function assembleCatalog(
  files: readonly PoolFile[],
  fileProblems: readonly string[],
  before: CatalogSnapshot | null,
): CatalogSnapshot {
  const problems = [...fileProblems];
  const listed = files.flatMap((file) => file.pools);
  const wasUsed = ({ pool }: { pool: Pool }) => before?.pools.has(pool.name) ?? false;
  const pools = new Map<string, Pool>();
  for (const { pool, where } of [...listed.filter(wasUsed), ...listed.filter((it) => !wasUsed(it))]) {
    const problem = findContradiction(pool, pools, before);
    if (problem !== null) problems.push(`${where}: ${problem}`);
    if (problem === null) pools.set(pool.name, pool);
  }
  const reservedIps = files.flatMap((file) => file.reservedIps);
  return {
    pools,
    reservedIps,
    reserved: { 4: reservedOf(4, reservedIps, before), 6: reservedOf(6, reservedIps, before) },
    problems,
  };
}

function findContradiction(
  pool: Pool,
  accepted: ReadonlyMap<string, Pool>,
  before: CatalogSnapshot | null,
): string | null {
  if (accepted.has(pool.name)) return `a second pool with the name ${pool.name}`;
  const earlier = before?.pools.get(pool.name);
  if (earlier !== undefined && earlier.domain !== pool.domain) {
    return `the domain of pool ${pool.name} is ${earlier.domain} and cannot become ${pool.domain}; make a new pool`;
  }
  return findOverlap(pool, [...accepted.values()]);
}

/** The same object as before when nothing changed, so that views stay. */
function reservedOf(family: Family, all: readonly ReservedIp[], before: CatalogSnapshot | null): IntervalSet {
  const counted = all.filter((it) => it.family === family && !it.isTerminating);
  const now = IntervalSet.of(counted.flatMap((it) => [...it.addresses.intervals()]));
  const earlier = before?.reserved[family];
  return earlier?.equals(now) === true ? earlier : now;
}
