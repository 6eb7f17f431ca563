import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { ObjectTable } from '#pkg/kube/objects/object-table.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import type { OnPoolChange } from '#pkg/ledger/pool-change.ts';
import { notifyLater } from '#pkg/ledger/pool-watchers.ts';
import { PoolWatch } from './kubernetes-pool-watch.ts';

export type OnWatchTrouble = (pool: string, failure: Failure) => void;

interface Watched {
  readonly watchers: Set<OnPoolChange>;
  readonly watch: PoolWatch;
}

/**
 * The watchers of each pool; those of one pool share one watch. It starts where the pool was last read, or where the watch
 * before it ended: from "now" on it would miss what changed since. A watcher that joins a running watch gets the report that
 * changes may have been missed.
 */
export class KubernetesWatchers implements AsyncDisposable {
  readonly #client: KubeClient;
  readonly #onTrouble: OnWatchTrouble;
  readonly #watched = new Map<string, Watched>();
  readonly #lastVersions = new Map<string, string>();

  constructor(client: KubeClient, onTrouble: OnWatchTrouble) {
    this.#client = client;
    this.#onTrouble = onTrouble;
  }

  /** Reads a pool, and remembers where it was read. */
  async read(pool: string, readTable: () => Promise<ObjectTable>): Promise<ObjectTable> {
    const table = await readTable();
    this.#lastVersions.set(pool, table.resourceVersion);
    return table;
  }

  watch(pool: string, onChange: OnPoolChange): Disposable {
    const own: OnPoolChange = (change) => onChange(change);
    const known = this.#watched.get(pool);
    const watched = known ?? this.#startWatch(pool);
    watched.watchers.add(own);
    if (known !== undefined) notifyLater(watched.watchers, own, { kind: 'unknown' });
    return { [Symbol.dispose]: () => this.#leave(pool, watched, own) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ending = [...this.#watched.values()];
    this.#watched.clear();
    for (const { watchers } of ending) watchers.clear();
    await Promise.all(ending.map(({ watch }) => watch[Symbol.asyncDispose]()));
  }

  #startWatch(pool: string): Watched {
    const watchers = new Set<OnPoolChange>();
    const watch = new PoolWatch(this.#client, {
      pool,
      from: this.#lastVersions.get(pool) ?? null,
      onChange: (change) => {
        for (const onChange of watchers) notifyLater(watchers, onChange, change);
      },
      onTrouble: (failure) => this.#onTrouble(pool, failure),
    });
    const watched = { watchers, watch };
    this.#watched.set(pool, watched);
    return watched;
  }

  #leave(pool: string, { watchers, watch }: Watched, own: OnPoolChange): void {
    watchers.delete(own);
    if (watchers.size > 0 || this.#watched.get(pool)?.watch !== watch) return;
    this.#watched.delete(pool);
    if (watch.from === null) this.#lastVersions.delete(pool);
    else this.#lastVersions.set(pool, watch.from);
    void watch[Symbol.asyncDispose]();
  }
}
