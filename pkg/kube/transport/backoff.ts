export interface BackoffRange {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Doubles from try to try up to a limit; half of each delay is chance, so that a thousand clients do not come back at once. */
export class Backoff {
  readonly #range: BackoffRange;
  readonly #random: () => number;
  #tries = 0;

  constructor(range: BackoffRange, random: () => number) {
    this.#range = range;
    this.#random = random;
  }

  nextMs(): number {
    const fullMs = Math.min(this.#range.mostMs, this.#range.firstMs * 2 ** this.#tries);
    if (fullMs < this.#range.mostMs) this.#tries += 1;
    return fullMs * (0.5 + this.#random() / 2);
  }

  reset(): void {
    this.#tries = 0;
  }
}
