import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { ObjectTable } from '#pkg/kube/objects/object-table.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import { PoolWatch } from './kubernetes-pool-watch.ts';

export type OnWatchTrouble = (pool: string, failure: Failure) => void;

interface Waiting {
  readonly wakes: Set<() => void>;
  readonly watch: PoolWatch;
}

/** Where a pool was read, and what had come back of it, as far as we were told, when that read began. */
interface LastRead {
  readonly resourceVersion: string;
  readonly freedBefore: number;
}

/**
 * Who waits for an address of which pool; all who wait for one share one watch. It starts where the pool was last read:
 * from "now" on it would miss what came back since, and to have everybody look once more, just in case, would make the
 * waiters of a full pool read it in circles. Reads may cross: the one that ended last is what a new waiter is taken to know,
 * and it knows nothing of what came back after it began.
 */
export class KubernetesFreed implements AsyncDisposable {
  readonly #client: KubeClient;
  readonly #onTrouble: OnWatchTrouble;
  readonly #waiting = new Map<string, Waiting>();
  readonly #lastReads = new Map<string, LastRead>();
  /** How often something came back, by pool. */
  readonly #freed = new Map<string, number>();
  #lastVersion: string | null = null;

  constructor(client: KubeClient, onTrouble: OnWatchTrouble) {
    this.#client = client;
    this.#onTrouble = onTrouble;
  }

  /** Reads a pool, and remembers where it was read. */
  async read(pool: string, readTable: () => Promise<ObjectTable>): Promise<ObjectTable> {
    const freedBefore = this.#freedOf(pool);
    const table = await readTable();
    this.#lastReads.set(pool, { resourceVersion: table.resourceVersion, freedBefore });
    return table;
  }

  /** The resourceVersion of a write that was just done: where to start in a pool that was never read. */
  noteVersion(resourceVersion: string): void {
    this.#lastVersion = resourceVersion;
  }

  watch(pool: string, wake: () => void): Disposable {
    const call = () => wake();
    const waiting = this.#waiting.get(pool) ?? this.#startWatch(pool);
    waiting.wakes.add(call);
    const known = this.#lastReads.get(pool);
    if (known !== undefined && known.freedBefore !== this.#freedOf(pool)) later(waiting.wakes, call);
    return { [Symbol.dispose]: () => this.#leave(pool, waiting, call) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ending = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { wakes } of ending) wakes.clear();
    await Promise.all(ending.map(({ watch }) => watch[Symbol.asyncDispose]()));
  }

  #startWatch(pool: string): Waiting {
    const wakes = new Set<() => void>();
    const watch = new PoolWatch(this.#client, {
      pool,
      from: this.#lastReads.get(pool)?.resourceVersion ?? this.#lastVersion,
      onFreed: () => {
        this.#freed.set(pool, this.#freedOf(pool) + 1);
        for (const wake of wakes) later(wakes, wake);
      },
      onTrouble: (failure) => this.#onTrouble(pool, failure),
    });
    const waiting = { wakes, watch };
    this.#waiting.set(pool, waiting);
    return waiting;
  }

  #freedOf(pool: string): number {
    return this.#freed.get(pool) ?? 0;
  }

  #leave(pool: string, { wakes, watch }: Waiting, call: () => void): void {
    wakes.delete(call);
    if (wakes.size > 0 || this.#waiting.get(pool)?.watch !== watch) return;
    this.#waiting.delete(pool);
    void watch[Symbol.asyncDispose]();
  }
}

/** In a microtask of its own: what a waiter throws is its own affair. */
function later(wakes: ReadonlySet<() => void>, wake: () => void): void {
  queueMicrotask(() => {
    if (wakes.has(wake)) wake();
  });
}
