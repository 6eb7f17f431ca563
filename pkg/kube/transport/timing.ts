/** Time and randomness, passed in so that tests can control them. */
export interface Timing {
  /** Monotonic: it does not jump when the clock of the host is set. */
  nowMs(): number;
  /** Returns a function that cancels it. */
  setTimer(ms: number, run: () => void): () => void;
  /** From 0 up to, not including, 1. */
  random(): number;
}

export const SYSTEM_TIMING: Timing = {
  nowMs: performance.now.bind(performance),
  setTimer: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** Ends early, without an error, when the signal fires. */
export function sleep(timing: Timing, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = () => {
      cancel();
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = timing.setTimer(ms, wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

export interface BackoffRange {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** The delay doubles up to a limit. Half of each delay is random, so that a thousand clients do not come back at once. */
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

/**
 * The pause before a failed request is sent again: the backoff, and never less than the server asked for. A quarter of what it
 * asked for is random on top, because it asks all clients for the same.
 */
export function pauseAfter(
  { retryAfterMs = 0 }: { readonly retryAfterMs?: number | undefined },
  backoffMs: number,
  random: () => number,
): number {
  return Math.max(backoffMs, retryAfterMs * (1 + random() / 4));
}

/** Returns the value of the promise, or null if the time is up or the signal fires first. The promise itself goes on. */
export function within<T>(promise: Promise<T>, timeoutMs: number, signal: AbortSignal | undefined): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => settle(() => resolve(null));
    const timer = setTimeout(giveUp, timeoutMs);
    signal?.addEventListener('abort', giveUp, { once: true });
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      end();
    };
    promise.then(
      (value) => settle(() => resolve(value)),
      (thrown) => settle(() => reject(thrown)),
    );
    if (signal?.aborted) giveUp();
  });
}
