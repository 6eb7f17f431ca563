/** `clusterctl move` brings claims first and their addresses seconds later. What takes longer is no move, and holds no pool back. */
export const LONGEST_HOLD_MS = 10 * 60_000;
/**
 * The same for a claim that names no cluster, and so is not paused while it arrives. It is shorter, because a claim whose leader died just
 * after it wrote the finalizer looks the same. A term begins with such a wait anyway.
 */
export const ARRIVES_FOR_MS = 60_000;
/** How long claims of one namespace may hold a pool in turn, each for its ten minutes, while no IPAddress comes for any of them. */
const MOST_MS = 30 * 60_000;
/** After such a time without a new claim that holds, the namespace begins anew. */
const REST_MS = 60 * 60_000;
const MOST_KNOWN = 10_000;

interface Use {
  readonly untilMs: number;
  readonly usedMs: number;
}

/**
 * How much of its allowance a namespace has used to hold a pool back. Our finalizer on a claim can be written by the tenant that created it, so a
 * claim that is made again and again would hold the pool for ever. In a move an IPAddress comes, and the allowance is whole again.
 */
export class HoldAllowance {
  readonly #uses = new Map<string, Use>();

  /** A claim was created at that time and holds the pool. Calling it again for the same claim changes nothing. */
  use(pool: string, namespace: string, createdMs: number, endMs: number): void {
    const key = keyOf(pool, namespace);
    const before = this.#uses.get(key);
    if (before === undefined || createdMs - before.untilMs > REST_MS) {
      if (this.#uses.size >= MOST_KNOWN) this.#uses.clear();
      this.#uses.set(key, { untilMs: endMs, usedMs: endMs - createdMs });
    } else if (endMs > before.untilMs) {
      const addedMs = endMs - Math.max(createdMs, before.untilMs);
      this.#uses.set(key, { untilMs: endMs, usedMs: before.usedMs + addedMs });
    }
  }

  /** The IPAddress of a claim that was waited for is here: this is a move. */
  refill(pool: string, namespace: string): void {
    const key = keyOf(pool, namespace);
    const before = this.#uses.get(key);
    if (before !== undefined) this.#uses.set(key, { ...before, usedMs: 0 });
  }

  isUsedUp(pool: string, namespace: string): boolean {
    return (this.#uses.get(keyOf(pool, namespace))?.usedMs ?? 0) > MOST_MS;
  }
}

function keyOf(pool: string, namespace: string): string {
  return `${pool}/${namespace}`;
}
