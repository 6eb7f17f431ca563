import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { quote } from '#pkg/ip/quote.ts';
import { listSome } from '#pkg/text/text-list.ts';
import { compilePattern, isPattern } from '#pkg/text/wildcard.ts';
import type { Candidate } from './candidates.ts';
import type { NameList } from './namespace-annotations.ts';
import { compareText } from './order.ts';
import type { Pool } from './pool.ts';

export interface Expanded {
  readonly candidates: readonly Candidate[];
  /** Patterns that no pool of the family matches. */
  readonly unmatched: readonly string[];
}

/** Each is held against the name of every pool, in the time of all other calls of the node. */
const MOST_PATTERNS = 10;

/**
 * A plain name may lead to a pool of the other family, which is objected to later; a pattern never does.
 * Spiderpool fails on any pool met twice; here only on a name written twice: a pool met again by a pattern keeps its first place.
 */
export function expandNames(list: NameList, family: Family, known: readonly Pool[]): Expanded {
  const plainNames = new Set<string>();
  const found = new Set<Pool>();
  const unmatched: string[] = [];
  refuseTooMany(list, family);
  for (const name of list.names) {
    if (isPattern(name)) {
      const matched = matchPattern(name, list, family, known);
      if (matched.length === 0) unmatched.push(name);
      for (const pool of matched) found.add(pool);
    } else {
      if (plainNames.has(name)) throw new IpamError(list.fault, `${list.from}: duplicate pool ${quote(name)}`);
      plainNames.add(name);
      found.add(known.find((pool) => pool.name === name) ?? refuse(name, list, family, known));
    }
  }
  return { candidates: toCandidates([...found]), unmatched };
}

export function toCandidates(pools: readonly Pool[]): Candidate[] {
  return pools.map((pool, listedAt) => ({ pool, listedAt }));
}

function refuseTooMany({ names, from, fault }: NameList, family: Family): void {
  const count = names.filter(isPattern).length;
  if (count <= MOST_PATTERNS) return;
  throw new IpamError(fault, `${from}: ${count} patterns for IPv${family}, at most ${MOST_PATTERNS} are allowed`);
}

function matchPattern(pattern: string, list: NameList, family: Family, known: readonly Pool[]): Pool[] {
  const isMatch = compileNamed(pattern, list);
  return known
    .filter((pool) => pool.family === family && isMatch(pool.name))
    .sort((a, b) => compareText(a.name, b.name));
}

function compileNamed(pattern: string, { from, fault }: NameList): (name: string) => boolean {
  try {
    return compilePattern(pattern);
  } catch (thrown) {
    throw new IpamError(fault, `${from}: ${toIpamError(thrown).message}`, { cause: thrown });
  }
}

function refuse(name: string, list: NameList, family: Family, known: readonly Pool[]): never {
  const existing = known.filter((pool) => pool.family === family).map((pool) => pool.name);
  const hint = existing.length === 0 ? 'none exist' : `there are ${listSome(existing.sort(compareText), 20)}`;
  throw new IpamError('unknown-pool', `${list.from}: no pool is named ${quote(name)}; of IPv${family} pools ${hint}`);
}
