import type { Timing } from '#pkg/kube/transport/timing.ts';

/** Keys that are due within so many ms of each other share a timer: a hundred thousand keys would need as many. */
const SHARED_MS = 20;

/** A timer of Node.js that is longer fires at once. A key that comes due early is looked at once more. */
const LONGEST_MS = 2 ** 31 - 2 * SHARED_MS;

interface Batch {
  readonly keys: Set<string>;
  readonly cancel: () => void;
}

/** Keys that are to be worked on later. The earliest time of a key wins. */
export class DueKeys {
  readonly #timing: Timing;
  readonly #onDue: (keys: Iterable<string>) => void;
  readonly #dueMs = new Map<string, number>();
  readonly #batches = new Map<number, Batch>();

  constructor(timing: Timing, onDue: (keys: Iterable<string>) => void) {
    this.#timing = timing;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#dueMs.size;
  }

  add(key: string, ms: number): void {
    const nowMs = this.#timing.nowMs();
    const dueMs = Math.ceil((nowMs + Math.min(ms, LONGEST_MS)) / SHARED_MS) * SHARED_MS;
    const planned = this.#dueMs.get(key);
    if (planned !== undefined && planned <= dueMs) return;
    if (planned !== undefined) this.#batches.get(planned)?.keys.delete(key);
    this.#dueMs.set(key, dueMs);
    this.#batchAt(dueMs, nowMs).keys.add(key);
  }

  keys(): Iterable<string> {
    return this.#dueMs.keys();
  }

  clear(): void {
    for (const { cancel } of this.#batches.values()) cancel();
    this.#batches.clear();
    this.#dueMs.clear();
  }

  #batchAt(dueMs: number, nowMs: number): Batch {
    const known = this.#batches.get(dueMs);
    if (known !== undefined) return known;
    const keys = new Set<string>();
    const cancel = this.#timing.setTimer(dueMs - nowMs, () => {
      this.#batches.delete(dueMs);
      for (const key of keys) this.#dueMs.delete(key);
      this.#onDue(keys);
    });
    const batch = { keys, cancel };
    this.#batches.set(dueMs, batch);
    return batch;
  }
}
