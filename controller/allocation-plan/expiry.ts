import { fnvHash } from '#pkg/record/record-metadata.ts';

interface Expiry {
  /** RFC 3339 in whole seconds; null: it does not expire. */
  readonly expiresAt: string | null;
  /** When it is renewed next; null: never. */
  readonly dueInMs: number | null;
}

interface Stamp {
  /** As it is stored, of whatever shape. */
  readonly stored: unknown;
  readonly ttlSeconds: number;
  readonly uid: string;
  readonly evenSince: Date;
  readonly now: Date;
}

/**
 * When an address expires whose NetworkConfiguration lives. It is renewed each half of its time, at a moment of its own that follows
 * from its uid: so 10,000 that were made at once, or were not renewed for a day, are renewed evenly over the half, and never in a
 * burst. What became due while there was no leader waits for its next moment: until then its address is kept all the same.
 */
export function planExpiry({ stored, ttlSeconds, uid, evenSince, now }: Stamp): Expiry {
  if (ttlSeconds === 0) return { expiresAt: null, dueInMs: null };
  const nowSeconds = now.getTime() / 1_000;
  const storedSeconds = readSeconds(stored);
  const fresh = toStamp(nowSeconds + ttlSeconds);
  // Whole seconds: a stamp is cut to them, and would otherwise seem to be from before its own moment.
  const half = Math.floor(ttlSeconds / 2);
  const offset = Number(BigInt(`0x${fnvHash(uid)}`) % BigInt(half));
  const roundOf = (seconds: number) => Math.floor((seconds - offset) / half);
  const dueAfter = (seconds: number) => ((roundOf(seconds) + 1) * half + offset - nowSeconds) * 1_000;
  if (storedSeconds === null) return { expiresAt: fresh, dueInMs: dueAfter(nowSeconds) };
  const renewed = storedSeconds - ttlSeconds;
  const led = evenSince.getTime() / 1_000;
  // From the future: the clock was set back, or the time was made shorter. Nothing is gained by a burst of corrections.
  // The first moment may come a second after the address was given: it waits for the next one then.
  const since = renewed > nowSeconds ? led : Math.max(renewed + ttlSeconds / 4, led);
  if (roundOf(nowSeconds) > roundOf(since)) return { expiresAt: fresh, dueInMs: dueAfter(nowSeconds) };
  return { expiresAt: String(stored), dueInMs: dueAfter(Math.max(since, nowSeconds)) };
}

/** Null: it has no time, or one that cannot be read. */
export function readExpiryMs(stored: unknown): number | null {
  const seconds = readSeconds(stored);
  return seconds === null ? null : seconds * 1_000;
}

function readSeconds(stored: unknown): number | null {
  const ms = typeof stored === 'string' && stored.length <= 64 ? Date.parse(stored) : Number.NaN;
  return Number.isFinite(ms) ? ms / 1_000 : null;
}

function toStamp(seconds: number): string {
  return `${new Date(Math.floor(seconds) * 1_000).toISOString().slice(0, 19)}Z`;
}
