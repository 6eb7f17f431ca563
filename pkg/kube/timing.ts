import { setTimeout as wait } from 'node:timers/promises';

/** Time and chance, handed in so that tests own them. */
export interface Timing {
  /** Monotonic: it never jumps when somebody sets the clock. */
  nowMs(): number;
  /** Ends early, without an error, when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** From 0 up to, not including, 1. */
  random(): number;
}

export const SYSTEM_TIMING: Timing = {
  nowMs: () => performance.now(),
  sleep: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {}),
  random: () => Math.random(),
};
