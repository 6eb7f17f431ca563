interface LastWrite {
  /** What we wanted to be there. */
  readonly wish: string;
  /** What was there after our write; the API server may have left out or converted some of it. */
  readonly found: string;
  readonly atMs: number;
  readonly pauseMs: number;
}

const LONGEST_PAUSE_MS = 30_000;

/**
 * When a status that others write too may be written again. What we want anew is written after a short pause. What was written and
 * then replaced by another writer is repaired at growing intervals: two writers that disagree must not load the API server.
 */
export class RepairPace {
  readonly #shortestMs: number;
  readonly #nowMs: () => number;
  readonly #last = new Map<string, LastWrite>();

  constructor(shortestMs: number, nowMs: () => number) {
    this.#shortestMs = shortestMs;
    this.#nowMs = nowMs;
  }

  /** 0: write now. A number: write in so many ms. Null: there is nothing to write, what we want is there as far as it can be. */
  dueInMs(key: string, wish: unknown, found: unknown): number | null {
    const last = this.#last.get(key);
    if (last === undefined) return 0;
    const isSame = last.wish === JSON.stringify(wish);
    if (isSame && last.found === JSON.stringify(found)) return null;
    const pauseMs = isSame ? last.pauseMs : this.#shortestMs;
    return Math.max(0, last.atMs + pauseMs - this.#nowMs());
  }

  /** `found`: the same part of the object in the answer. */
  wrote(key: string, wish: unknown, found: unknown): void {
    const last = this.#last.get(key);
    const text = JSON.stringify(wish);
    const nowMs = this.#nowMs();
    const isRepair = last?.wish === text;
    // It was untouched for long, so this replacement may be the only one.
    const isCalm = last !== undefined && nowMs - last.atMs > 2 * LONGEST_PAUSE_MS;
    const pauseMs = isRepair && !isCalm ? Math.min(2 * last.pauseMs, LONGEST_PAUSE_MS) : this.#shortestMs;
    this.#last.set(key, { wish: text, found: JSON.stringify(found), atMs: nowMs, pauseMs });
  }

  forget(key: string): void {
    this.#last.delete(key);
  }
}
