import { keepReserved } from '#agent/sources/keep-reserved.ts';
import { type CatalogSnapshot, catalogPools } from '#agent/sources/pool-catalog.ts';
import { findOverlap } from '#pkg/crd/pool-overlap.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolFile } from './pool-files.ts';

interface Listed {
  readonly pool: Pool;
  readonly where: string;
}

/**
 * One catalog from all files. Unchanged pools come first, then changed ones, then new ones. A pool that contradicts
 * an accepted pool is reported, and its earlier version stays in force.
 * `domainsInUse`: for each pool name the domain of its held addresses.
 */
export function assembleCatalog(
  files: readonly PoolFile[],
  fileProblems: readonly string[],
  before: CatalogSnapshot | null,
  domainsInUse: ReadonlyMap<string, string> = new Map(),
): CatalogSnapshot {
  const problems = [...fileProblems];
  const accepted = new Map<string, Pool>();
  for (const { pool, where } of inOrder(files, before)) {
    const problem = findContradiction(pool, accepted, before, domainsInUse);
    if (problem !== null) problems.push(`${where}: ${problem}`);
    const earlier = before?.pools.get(pool.name);
    const next = problem === null ? pool : earlier;
    if (next !== undefined && !accepted.has(next.name) && findOverlap(next, accepted.values()) === null) {
      accepted.set(next.name, next);
    }
  }
  const reservedIps = files.flatMap((file) => file.reservedIps);
  return {
    ...catalogPools(accepted.values()),
    // If two files contradict each other, only one is accepted: no overlap is left.
    overlaps: new Map(),
    reservedIps,
    reserved: keepReserved(reservedIps, before),
    problems,
  };
}

function inOrder(files: readonly PoolFile[], before: CatalogSnapshot | null): Listed[] {
  const rank = ({ pool }: Listed) => {
    const earlier = before?.pools.get(pool.name);
    if (earlier === pool) return 0;
    return earlier === undefined ? 2 : 1;
  };
  return files.flatMap((file) => file.pools).toSorted((a, b) => rank(a) - rank(b));
}

function findContradiction(
  pool: Pool,
  accepted: ReadonlyMap<string, Pool>,
  before: CatalogSnapshot | null,
  domainsInUse: ReadonlyMap<string, string>,
): string | null {
  if (accepted.has(pool.name)) return `a second pool with the name ${pool.name}`;
  const domain = before?.pools.get(pool.name)?.domain ?? domainsInUse.get(pool.name) ?? pool.domain;
  if (domain !== pool.domain) {
    return `the domain of pool ${pool.name} is ${domain} and cannot become ${pool.domain}; make a new pool`;
  }
  return findOverlap(pool, accepted.values());
}
