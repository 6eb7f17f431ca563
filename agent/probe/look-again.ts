import { setTimeout as sleep } from 'node:timers/promises';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export interface Patience {
  readonly waitMs: number;
  /** Asked after every pause. */
  readonly throwIfOver: () => void;
}

/** What is there to see at last, or null when the time is over. The pauses grow: a look may cost the kernel something. */
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
