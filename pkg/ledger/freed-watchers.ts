/** Who waits for an address of which pool. */
export class FreedWatchers {
  readonly #wakes = new Map<string, Set<() => void>>();

  watch(pool: string, wake: () => void): Disposable {
    const call = () => wake();
    const calls = this.#wakes.get(pool) ?? new Set();
    this.#wakes.set(pool, calls.add(call));
    return {
      [Symbol.dispose]: () => {
        calls.delete(call);
        if (calls.size === 0 && this.#wakes.get(pool) === calls) this.#wakes.delete(pool);
      },
    };
  }

  /** A waiter runs in its own microtask: what it throws is its own affair, not that of the release which woke it. */
  wake(pool: string): void {
    const calls = this.#wakes.get(pool);
    for (const call of calls ?? []) {
      queueMicrotask(() => {
        if (calls?.has(call)) call();
      });
    }
  }
}
