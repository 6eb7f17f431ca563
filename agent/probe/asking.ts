/** The schedule of one question that is sent several times, at equal intervals, each followed by time for an answer. */
export class Asking {
  readonly #times: number;
  readonly #everyMs: number;
  #asked = 0;
  #firstAtMs = 0;
  #lastAtMs = 0;

  constructor(times: number, everyMs: number) {
    this.#times = times;
    this.#everyMs = everyMs;
  }

  isDue(nowMs: number): boolean {
    return this.#asked < this.#times && (this.#asked === 0 || nowMs >= this.#nextAtMs());
  }

  /** Whether all questions were sent and the time for an answer to the last one is over. */
  isOver(nowMs: number): boolean {
    return this.#asked === this.#times && nowMs >= this.#nextAtMs();
  }

  /** Whether all questions were sent and an answer to the last one would usually have arrived. */
  isNearlyOver(nowMs: number): boolean {
    return this.#asked === this.#times && nowMs >= this.#lastAtMs + this.#everyMs / 2;
  }

  asked(nowMs: number): void {
    if (this.#asked === 0) this.#firstAtMs = nowMs;
    this.#asked += 1;
    this.#lastAtMs = nowMs;
  }

  /** At equal intervals, but at least half an interval after a question that was sent late. */
  #nextAtMs(): number {
    return Math.max(this.#firstAtMs + this.#asked * this.#everyMs, this.#lastAtMs + this.#everyMs / 2);
  }
}
