/** Time and chance, handed in so that tests own them. */
export interface Timing {
  /** Monotonic: it never jumps when somebody sets the clock. */
  nowMs(): number;
  /** Returns what cancels it. */
  setTimer(ms: number, run: () => void): () => void;
  /** From 0 up to, not including, 1. */
  random(): number;
}

export const SYSTEM_TIMING: Timing = {
  nowMs: () => performance.now(),
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
