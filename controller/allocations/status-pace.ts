const MOST_AT_ONCE = 10;
const EACH_MS = 10_000;

interface Bucket {
  readonly left: number;
  readonly atMs: number;
}

/**
 * When a status may be written again. The few writes of an allocation's life go through at once; a status that another writer replaces again and again is
 * written every 10 s, because two writers that disagree must not load the API server.
 */
export class StatusPace {
  readonly #nowMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** 0: now. */
  waitMs(key: string): number {
    const { left } = this.#fill(key);
    return left >= 1 ? 0 : Math.ceil((1 - left) * EACH_MS);
  }

  wrote(key: string): void {
    const { left, atMs } = this.#fill(key);
    this.#buckets.set(key, { left: Math.max(left - 1, 0), atMs });
  }

  forget(key: string): void {
    this.#buckets.delete(key);
  }

  #fill(key: string): Bucket {
    const atMs = this.#nowMs();
    const before = this.#buckets.get(key);
    if (before === undefined) return { left: MOST_AT_ONCE, atMs };
    return { left: Math.min(MOST_AT_ONCE, before.left + (atMs - before.atMs) / EACH_MS), atMs };
  }
}
