import type { Pool } from '#pkg/pool/pool.ts';

const HELD_FOR_MS = 10_000;

interface Reservation {
  readonly pool: Pool;
  /** The pool was there before. */
  readonly isChange: boolean;
  readonly untilMs: number;
}

/**
 * Pools that were admitted here and may not be stored yet: between the check and the store two pools could pass each other.
 * Only this replica knows them; what passes by way of another is found by the lifecycle, and marked.
 */
export class Reservations {
  readonly #nowMs: () => number;
  readonly #held = new Map<string, Reservation>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** One check at a time, so that each sees what the one before admitted. */
  alone<T>(check: () => Promise<T>): Promise<T> {
    const result = this.#last.then(check, check);
    this.#last = result.catch(() => {});
    return result;
  }

  /** A change of an older pool of the same name says nothing about the new one, which is on its way. */
  hold(pool: Pool, { isChange }: { readonly isChange: boolean }): void {
    const held = this.#held.get(pool.name);
    if (isChange && held?.isChange === false && held.pool.uid !== pool.uid) return;
    this.#held.set(pool.name, { pool, isChange, untilMs: this.#nowMs() + HELD_FOR_MS });
  }

  drop(name: string): void {
    this.#held.delete(name);
  }

  /**
   * What is reserved beyond what is stored. The API server also asks about changes that it then does not make, of pools that
   * are gone by then: it begins with what it has in its cache.
   */
  beyond(stored: readonly Pool[]): Pool[] {
    const byName = new Map(stored.map((pool) => [pool.name, pool]));
    for (const [name, { pool, isChange, untilMs }] of this.#held) {
      const found = byName.get(name);
      const isStored = found !== undefined && pool.addresses.isSubsetOf(found.addresses);
      const isMoot = isChange && found?.uid !== pool.uid;
      if (isStored || isMoot || this.#nowMs() >= untilMs) this.#held.delete(name);
    }
    return [...this.#held.values()].map(({ pool }) => pool);
  }
}
