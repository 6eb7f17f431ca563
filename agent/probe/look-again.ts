import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export interface Patience {
  readonly waitMs: number;
  /** Checked after every pause. */
  readonly throwIfOver: () => void;
}

/** Repeats `look` until it returns a value; null after the deadline. The pauses grow, because a look may be expensive. */
export async function lookAgain<T>(
  look: () => Promise<T | null>,
  { waitMs, throwIfOver }: Patience,
): Promise<T | null> {
  const giveUpAtMs = performance.now() + waitMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const seen = await look();
    if (seen !== null || performance.now() >= giveUpAtMs) return seen;
    await sleep(pauseMs, undefined, { ref: false });
    throwIfOver();
  }
}
