import type { Family } from '#pkg/ip/address.ts';
import { compilePattern } from '#pkg/text/wildcard.ts';
import { compareText } from './order.ts';
import type { Pool } from './pool.ts';

/** Tenants write the patterns, so the number that is kept has a limit: 20 for each of the ADDs that an agent has at once, and some more. */
const MOST_KEPT = 25_000;
const NAMES_PER_STEP = 50;
/** Numbers of pools that are gone, before the numbers begin anew. */
const MOST_GONE = 1_000;

/** What is known of a pattern, two bits for each name: whether it was held against the name, and whether it matches. */
class Seen {
  #bits = new Uint8Array(0);

  get(number: number): 'unknown' | 'differs' | 'matches' {
    const bits = ((this.#bits[number >> 2] ?? 0) >> ((number & 3) * 2)) & 3;
    if (bits === 0) return 'unknown';
    return bits === 1 ? 'differs' : 'matches';
  }

  set(number: number, isMatch: boolean, highest: number): void {
    if (number >> 2 >= this.#bits.length) {
      const grown = new Uint8Array((highest >> 2) + 1);
      grown.set(this.#bits);
      this.#bits = grown;
    }
    const at = number >> 2;
    this.#bits[at] = (this.#bits[at] ?? 0) | ((isMatch ? 2 : 1) << ((number & 3) * 2));
  }
}

/** Each name has a number as long as this lives, so what is known of a pattern outlives every change of the pools. */
class KnownPatterns {
  readonly #numbers = new Map<string, number>();
  readonly #seen = new Map<string, Seen>();
  #before: KnownPatterns | null;

  constructor(before: KnownPatterns | null) {
    this.#before = before;
    // Only one step back: a chain would keep everything that ever was.
    if (before !== null) before.#before = null;
  }

  get size(): number {
    return this.#numbers.size;
  }

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  /** Null for a new pattern. */
  find(pattern: string): Seen | null {
    const seen = this.#seen.get(pattern) ?? this.#fromBefore(pattern);
    if (seen !== null) this.keep(pattern, seen);
    return seen;
  }

  /** The pattern that was not asked for longest goes first. */
  keep(pattern: string, seen: Seen): void {
    this.#seen.delete(pattern);
    this.#seen.set(pattern, seen);
    if (this.#seen.size <= MOST_KEPT) return;
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined) this.#seen.delete(oldest);
  }

  #fromBefore(pattern: string): Seen | null {
    const before = this.#before;
    const old = before === null ? undefined : before.#seen.get(pattern);
    if (before === null || old === undefined) return null;
    const seen = new Seen();
    for (const [name, number] of before.#numbers) {
      const known = old.get(number);
      const now = this.#numbers.get(name);
      if (now !== undefined && known !== 'unknown') seen.set(now, known === 'matches', this.size - 1);
    }
    return seen;
  }
}

interface Numbered {
  readonly pool: Pool;
  readonly number: number;
}

/** Which of these pools match a pattern. To find out takes milliseconds for a thousand pools, so each name is held against it once. */
export class PatternMatches {
  readonly #pools: Readonly<Record<Family, readonly Numbered[]>>;
  readonly #known: KnownPatterns;

  /** `before`: the matches among the pools as they were, most of which have not changed. */
  constructor(pools: readonly Pool[], before: PatternMatches | null = null) {
    const isFull = before !== null && before.#known.size > 2 * pools.length + MOST_GONE;
    this.#known = before === null || isFull ? new KnownPatterns(before === null ? null : before.#known) : before.#known;
    const numbered = pools
      .toSorted((a, b) => compareText(a.name, b.name))
      .map((pool) => ({ pool, number: this.#known.numberOf(pool.name) }));
    this.#pools = {
      4: numbered.filter(({ pool }) => pool.family === 4),
      6: numbered.filter(({ pool }) => pool.family === 6),
    };
  }

  /** In the order of their names. Throws for a malformed pattern. */
  matching(pattern: string, family: Family): readonly Pool[] {
    const search = this.search(pattern, family);
    for (;;) {
      const { done, value } = search.next();
      if (done === true)
        return this.#pools[family].flatMap((it) => (value.get(it.number) === 'matches' ? it.pool : []));
    }
  }

  /** Does the work of `matching` in short steps, for a caller that lets others run in between. */
  *search(pattern: string, family: Family): Generator<void, Seen> {
    let seen = this.#known.find(pattern);
    let isMatch: ((name: string) => boolean) | null = null;
    if (seen === null) {
      isMatch = compilePattern(pattern);
      seen = new Seen();
      this.#known.keep(pattern, seen);
    }
    let held = 0;
    for (const { pool, number } of this.#pools[family]) {
      if (seen.get(number) !== 'unknown') continue;
      isMatch ??= compilePattern(pattern);
      seen.set(number, isMatch(pool.name), this.#known.size - 1);
      held += 1;
      if (held % NAMES_PER_STEP === 0) yield;
    }
    return seen;
  }
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
