import type { Pool } from '#pkg/pool/pool.ts';

const HELD_FOR_MS = 10_000;

interface Reservation {
  readonly pool: Pool;
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

  hold(pool: Pool): void {
    this.#held.set(pool.name, { pool, untilMs: this.#nowMs() + HELD_FOR_MS });
  }

  drop(name: string): void {
    this.#held.delete(name);
  }

  /** What is reserved beyond what is stored. */
  beyond(stored: readonly Pool[]): Pool[] {
    const byName = new Map(stored.map((pool) => [pool.name, pool]));
    for (const [name, { pool, untilMs }] of this.#held) {
      const isStored = pool.addresses.isSubsetOf(byName.get(name)?.addresses ?? pool.addresses) && byName.has(name);
      if (isStored || this.#nowMs() >= untilMs) this.#held.delete(name);
    }
    return [...this.#held.values()].map(({ pool }) => pool);
  }
}
