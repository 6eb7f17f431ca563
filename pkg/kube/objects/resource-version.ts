/** Whether `a` was written before `b`. A version that is not a number cannot be compared and counts as later. */
export function isOlder(a: string, b: string): boolean {
  return a !== b && isNumber(a) && isNumber(b) && BigInt(a) < BigInt(b);
}

/** No cluster writes that often between two looks. Kubernetes recommends to bump the revision of a restored etcd by a billion. */
const BUMP = 100_000_000n;

/**
 * Whether a store that says `now` was restored from a backup since it said `before`: its revision went back, or was bumped so
 * that it does not.
 */
export function isRestoredSince(now: string, before: string): boolean {
  if (!isNumber(now) || !isNumber(before) || BigInt(before) === 0n) return false;
  return isOlder(now, before) || BigInt(now) - BigInt(before) > BUMP;
}

/** For comparing many versions. One that is not a number counts as the oldest: it must not be the reason to free a record. */
export function toRevision(resourceVersion: string): bigint {
  return isNumber(resourceVersion) ? BigInt(resourceVersion) : 0n;
}

function isNumber(text: string): boolean {
  return /^\d{1,40}$/.test(text);
}
