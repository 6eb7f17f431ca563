import type { PoolChange, TellChange } from './pool-change.ts';

/** Who watches which pool. */
export class PoolWatchers {
  readonly #watchers = new Map<string, Set<TellChange>>();

  watch(pool: string, tell: TellChange): Disposable {
    const own: TellChange = (change) => tell(change);
    const watchers = this.#watchers.get(pool) ?? new Set();
    this.#watchers.set(pool, watchers.add(own));
    return {
      [Symbol.dispose]: () => {
        watchers.delete(own);
        if (watchers.size === 0 && this.#watchers.get(pool) === watchers) this.#watchers.delete(pool);
      },
    };
  }

  tell(pool: string, change: PoolChange): void {
    const watchers = this.#watchers.get(pool);
    for (const tell of watchers ?? []) tellLater(watchers, tell, change);
  }
}

/** In a microtask of its own: what a watcher throws must not fail the write that it is called for. */
export function tellLater(watchers: ReadonlySet<TellChange> | undefined, tell: TellChange, change: PoolChange): void {
  queueMicrotask(() => {
    if (watchers?.has(tell)) tell(change);
  });
}
