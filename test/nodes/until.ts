import { setTimeout as sleep } from 'node:timers/promises';

const LIMIT_MS = 180_000;

/** Looks again and again until the look returns a value; a look that throws is repeated too. */
export async function until<T>(what: string, look: () => Promise<T | null | undefined | false>): Promise<T> {
  const deadline = performance.now() + LIMIT_MS;
  let cause: unknown;
  while (performance.now() < deadline) {
    try {
      const seen = await look();
      if (seen !== null && seen !== undefined && seen !== false) return seen;
      cause = undefined;
    } catch (thrown) {
      cause = thrown;
    }
    await sleep(200);
  }
  throw new Error(`not within ${LIMIT_MS / 1000} s: ${what}`, { cause });
}
