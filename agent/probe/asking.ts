/** One question asked a few times, evenly, each time with some time to listen. */
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

  /** Whether everything was asked and the time for an answer to the last question is over. */
  isOver(nowMs: number): boolean {
    return this.#asked === this.#times && nowMs >= this.#nextAtMs();
  }

  /** Whether everything was asked and an answer to the last question would usually be here. */
  isNearlyOver(nowMs: number): boolean {
    return this.#asked === this.#times && nowMs >= this.#lastAtMs + this.#everyMs / 2;
  }

  asked(nowMs: number): void {
    if (this.#asked === 0) this.#firstAtMs = nowMs;
    this.#asked += 1;
    this.#lastAtMs = nowMs;
  }

  /** By the plan, but not at once after a question that went out late. */
  #nextAtMs(): number {
    return Math.max(this.#firstAtMs + this.#asked * this.#everyMs, this.#lastAtMs + this.#everyMs / 2);
  }
}
