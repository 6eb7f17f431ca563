import type { Candidate } from './candidates.ts';
import type { Pool } from './pool.ts';

/** Presence only: how many a pool has, and what they say, does not matter. */
const CLAIMS: readonly ((pool: Pool) => boolean)[] = [
  (pool) => pool.podAffinity !== null,
  (pool) => pool.nodeNames.length > 0,
  (pool) => pool.nodeAffinity !== null,
  (pool) => pool.namespaceNames.length > 0,
  (pool) => pool.namespaceAffinity !== null,
  (pool) => pool.multusNames.length > 0,
];

/** Most specific first, then the order the user wrote, then the name. */
export function comparePools(a: Candidate, b: Candidate): number {
  for (const claims of CLAIMS) {
    const difference = Number(claims(b.pool)) - Number(claims(a.pool));
    if (difference !== 0) return difference;
  }
  return a.listedAt - b.listedAt || compareText(a.pool.name, b.pool.name);
}

/** Code-unit order: the same on every machine, unlike localeCompare. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
