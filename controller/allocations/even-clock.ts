/** A clock that is adjusted, not set, moves by far less between two looks. */
const MOST_DRIFT_MS = 1_000;

/**
 * Since when the clock has run evenly, in its own time. When it is set, the moments of many allocations have passed at once, or come again:
 * as for those that passed before this process led, the next one of each is waited for.
 */
export class EvenClock {
  readonly #now: () => Date;
  readonly #nowMs: () => number;
  #since: Date;
  /** Between the clock and the time since the start of the process, which nobody sets. */
  #offsetMs: number;

  constructor(now: () => Date, nowMs: () => number) {
    this.#now = now;
    this.#nowMs = nowMs;
    this.#since = now();
    this.#offsetMs = this.#since.getTime() - nowMs();
  }

  since(): Date {
    const now = this.#now();
    const offsetMs = now.getTime() - this.#nowMs();
    if (Math.abs(offsetMs - this.#offsetMs) > MOST_DRIFT_MS) this.#since = now;
    this.#offsetMs = offsetMs;
    return this.#since;
  }

  /** The later one of that and a moment since the start of the process. */
  sinceLater(atMs: number): Date {
    return new Date(Math.max(this.since().getTime(), atMs + this.#offsetMs));
  }
}
