/**
 * Tasks that share a key run one after the other, in the order they were handed in; others run at once.
 * A task with several keys waits for all of them. No deadlock: a task only ever waits for earlier ones.
 */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  run<T>(keys: readonly string[], task: () => Promise<T>): Promise<T> {
    const turn = Promise.all(keys.map((key) => this.#tails.get(key))).then(task);
    const settled = turn.then(ignore, ignore);
    const tail = settled.then(() => {
      for (const key of keys) if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    for (const key of keys) this.#tails.set(key, tail);
    return turn;
  }

  get size(): number {
    return this.#tails.size;
  }
}

function ignore(): void {}
