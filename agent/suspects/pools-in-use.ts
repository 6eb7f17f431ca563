import type { NodeIndex } from '#agent/node/node-index.ts';
import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { PoolView } from '#agent/views/pool-view.ts';
import type { PoolViews } from '#agent/views/pool-views.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

export interface PoolsInUseDeps {
  readonly index: NodeIndex;
  readonly catalog: PoolCatalog;
  readonly views: PoolViews;
  /** Whether a living pod has it. */
  readonly isInUse: (record: IpRecord) => boolean;
  readonly reloadEveryMs: number;
  readonly nowMs: () => number;
  readonly random: () => number;
}

/** A pool of which a living pod of this node has an address: through its interface the network of the pool can be asked. */
export interface PoolInUse {
  readonly view: PoolView;
  readonly pods: readonly IpRecord[];
}

/** The views of the pools that this node uses, each loaded about once an hour. */
export class PoolsInUse {
  readonly #deps: PoolsInUseDeps;
  readonly #reloadAtMs = new Map<string, number>();

  constructor(deps: PoolsInUseDeps) {
    this.#deps = deps;
  }

  all(): ReadonlyMap<string, PoolInUse> {
    const { index, catalog, views, isInUse } = this.#deps;
    const { pools } = catalog.current();
    const live = index
      .all()
      .filter((record) => record.spec.state === 'Allocated' && record.spec.holder.netns !== undefined)
      .filter(isInUse);
    const byPool = Map.groupBy(live, ({ spec }) => spec.pool.name);
    return new Map(
      [...byPool].flatMap(([name, pods]) => {
        const pool = pools.get(name);
        return pool === undefined ? [] : [[name, { view: views.of(pool), pods }] as const];
      }),
    );
  }

  /** Loads the views that are due. The first load comes at a random time, so that agents that start together do not list together. */
  async reload(inUse: ReadonlyMap<string, PoolInUse>): Promise<void> {
    const { nowMs, random, reloadEveryMs } = this.#deps;
    for (const name of this.#reloadAtMs.keys()) if (!inUse.has(name)) this.#reloadAtMs.delete(name);
    for (const [name, { view }] of inUse) {
      const dueAtMs = this.#reloadAtMs.get(name) ?? nowMs() + reloadEveryMs * random();
      this.#reloadAtMs.set(name, dueAtMs);
      if (nowMs() < dueAtMs) continue;
      await view.refresh();
      this.#reloadAtMs.set(name, nowMs() + reloadEveryMs * (0.9 + random() / 5));
    }
  }
}
