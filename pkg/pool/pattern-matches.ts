import type { Family } from '#pkg/ip/address.ts';
import { compilePattern } from '#pkg/text/wildcard.ts';
import { compareText } from './order.ts';
import type { Pool } from './pool.ts';

/** Tenants write the patterns, so the number that is kept has a limit. */
const MOST_KEPT = 200;
const POOLS_PER_STEP = 50;

interface Found {
  readonly isMatch: (name: string) => boolean;
  readonly pools: readonly Pool[];
}

/** Which of these pools match a pattern. To find out takes milliseconds for a thousand pools, so it is kept. */
export class PatternMatches {
  readonly #pools: Readonly<Record<Family, readonly Pool[]>>;
  readonly #found = new Map<string, Found>();
  #before: PatternMatches | null;

  /** `before`: the matches among the pools as they were, most of which have not changed. */
  constructor(pools: readonly Pool[], before: PatternMatches | null = null) {
    const sorted = pools.toSorted((a, b) => compareText(a.name, b.name));
    this.#pools = { 4: sorted.filter((pool) => pool.family === 4), 6: sorted.filter((pool) => pool.family === 6) };
    this.#before = before;
    // Only one step back: a chain would keep every state of the pools.
    if (before !== null) before.#before = null;
  }

  /** In the order of their names. Throws for a malformed pattern. */
  matching(pattern: string, family: Family): readonly Pool[] {
    for (const _ of this.search(pattern, family));
    return this.#found.get(keyOf(pattern, family))?.pools ?? [];
  }

  /** Does the work of `matching` in short steps, for who has others to serve in between. */
  *search(pattern: string, family: Family): Generator<void, void> {
    const key = keyOf(pattern, family);
    if (this.#found.has(key)) return;
    const before = this.#before === null ? null : this.#before.#namesOf(key, family);
    const isMatch = before?.isMatch ?? compilePattern(pattern);
    const pools: Pool[] = [];
    for (const [at, pool] of this.#pools[family].entries()) {
      if (at > 0 && at % POOLS_PER_STEP === 0) yield;
      const wasKnown = before?.all.has(pool.name) ?? false;
      if (wasKnown ? before?.matched.has(pool.name) : isMatch(pool.name)) pools.push(pool);
    }
    if (this.#found.size >= MOST_KEPT) this.#found.clear();
    this.#found.set(key, { isMatch, pools });
  }

  #namesOf(key: string, family: Family) {
    const found = this.#found.get(key);
    if (found === undefined) return null;
    const all = new Set(this.#pools[family].map(({ name }) => name));
    return { isMatch: found.isMatch, all, matched: new Set(found.pools.map(({ name }) => name)) };
  }
}

function keyOf(pattern: string, family: Family): string {
  return `${family} ${pattern}`;
}

const MATCHES = new WeakMap<readonly Pool[], PatternMatches>();
let latest: PatternMatches | null = null;

/** The matches among one list of pools, kept as long as the list. */
export function matchesAmong(pools: readonly Pool[]): PatternMatches {
  const kept = MATCHES.get(pools);
  if (kept !== undefined) return kept;
  latest = new PatternMatches(pools, latest);
  MATCHES.set(pools, latest);
  return latest;
}
