import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { PoolViews } from '#agent/views/pool-views.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';

export type Wake = 'woken' | 'timeout' | 'too-many' | 'stopping';

/** Calls that wait for an address to come back, a bounded number of them. */
export class FreedWaiters {
  readonly #ledger: Ledger;
  readonly #catalog: PoolCatalog;
  readonly #views: Pick<PoolViews, 'onFreed'>;
  readonly #most: number;
  readonly #stopping = new AbortController();
  #waiting = 0;

  constructor(ledger: Ledger, catalog: PoolCatalog, views: Pick<PoolViews, 'onFreed'>, most: number) {
    this.#ledger = ledger;
    this.#catalog = catalog;
    this.#views = views;
    this.#most = most;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** The agent stops: no freed address would be noticed any more. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Watches before it looks: `isWorthTrying` runs after the watch stands, so nothing freed in between is missed. */
  async wait(
    pools: readonly string[],
    waitMs: number,
    signal: AbortSignal,
    isWorthTrying: () => boolean,
  ): Promise<Wake> {
    if (this.#waiting >= this.#most) return 'too-many';
    if (this.#stopping.signal.aborted) return 'stopping';
    this.#waiting += 1;
    const { promise, resolve } = Promise.withResolvers<Wake>();
    const wake = () => resolve('woken');
    using stack = new DisposableStack();
    stack.defer(() => {
      this.#waiting -= 1;
    });
    const timer = setTimeout(() => resolve('timeout'), waitMs);
    stack.defer(() => clearTimeout(timer));
    const stop = () => resolve('stopping');
    this.#stopping.signal.addEventListener('abort', stop);
    stack.defer(() => this.#stopping.signal.removeEventListener('abort', stop));
    signal.addEventListener('abort', wake);
    stack.defer(() => signal.removeEventListener('abort', wake));
    for (const pool of pools) stack.use(this.#ledger.watchFreed(pool, wake));
    // An address may come back under the name of another pool that has it too.
    stack.use(this.#views.onFreed((pool) => pools.includes(pool) && wake()));
    stack.use(this.#catalog.onChange(wake));
    if (signal.aborted || isWorthTrying()) wake();
    return await promise;
  }
}
