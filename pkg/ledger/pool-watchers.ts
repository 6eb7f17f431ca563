import type { OnPoolChange, PoolChange } from './pool-change.ts';

/** The watchers of each pool. */
export class PoolWatchers {
  readonly #watchers = new Map<string, Set<OnPoolChange>>();

  watch(pool: string, onChange: OnPoolChange): Disposable {
    const own: OnPoolChange = (change) => onChange(change);
    const watchers = this.#watchers.get(pool) ?? new Set();
    this.#watchers.set(pool, watchers.add(own));
    return {
      [Symbol.dispose]: () => {
        watchers.delete(own);
        if (watchers.size === 0 && this.#watchers.get(pool) === watchers) this.#watchers.delete(pool);
      },
    };
  }

  notify(pool: string, change: PoolChange): void {
    const watchers = this.#watchers.get(pool);
    for (const onChange of watchers ?? []) notifyLater(watchers, onChange, change);
  }
}

/** In a microtask of its own: what a watcher throws must not fail the write that it is called for. */
export function notifyLater(
  watchers: ReadonlySet<OnPoolChange> | undefined,
  onChange: OnPoolChange,
  change: PoolChange,
): void {
  queueMicrotask(() => {
    if (watchers?.has(onChange)) onChange(change);
  });
}
