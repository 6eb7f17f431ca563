import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import { DROPPED_FOR_MS, readDropped } from './dropped-ranges.ts';
import type { PoolNow } from './pools-now.ts';

/** A pool that does not exist any more. */
export interface GonePool extends Pick<PoolNow, 'pool' | 'ranges'> {
  /** What it had, and what it had dropped a moment before. */
  readonly addresses: IntervalSet;
  /** For how long these go to no other pool. */
  readonly forMs: number;
}

/**
 * The pools that the cache saw go in the last minute. An agent with an old view may still give out an address of one of them. A new
 * leader knows none, and needs none: it makes no pool before it has led for a minute.
 */
export class GonePools {
  readonly #now: () => Date;
  #gone: { readonly pool: PoolNow; readonly addresses: IntervalSet; readonly atMs: number }[] = [];

  constructor(now: () => Date) {
    this.#now = now;
  }

  note(pool: PoolNow): void {
    if (pool.ranges === null) return;
    const now = this.#now();
    const addresses = pool.ranges.addresses.union(readDropped(pool.object, now).addresses);
    if (!addresses.isEmpty) this.#gone.push({ pool, addresses, atMs: now.getTime() });
  }

  list(now: Date): GonePool[] {
    const forMs = (atMs: number) => atMs + DROPPED_FOR_MS - now.getTime();
    // The clock of the host may have been set back.
    this.#gone = this.#gone.filter(({ atMs }) => forMs(atMs) > 0 && forMs(atMs) <= 2 * DROPPED_FOR_MS);
    return this.#gone.map(({ pool: { pool, ranges }, addresses, atMs }) => ({
      pool,
      ranges,
      addresses,
      forMs: forMs(atMs),
    }));
  }
}
