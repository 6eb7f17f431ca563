/** One timer for all waits; it runs only while there is a wait. */
export class Ticker {
  readonly #everyMs: number;
  readonly #waiting = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Checks now and at every tick until the check returns a value; a check that throws rejects. */
  until<T>(look: (nowMs: number) => T | null): Promise<T> {
    return new Promise((resolve, reject) => {
      const lookOnce = () => {
        try {
          const seen = look(performance.now());
          if (seen === null) return;
          resolve(seen);
        } catch (thrown) {
          reject(thrown);
        }
        this.#leave(lookOnce);
      };
      this.#join(lookOnce);
      lookOnce();
    });
  }

  #join(look: () => void): void {
    this.#waiting.add(look);
    this.#timer ??= setInterval(() => {
      for (const it of this.#waiting) it();
    }, this.#everyMs);
  }

  #leave(look: () => void): void {
    this.#waiting.delete(look);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
