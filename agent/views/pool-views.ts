import type { NodeIndex } from '#agent/node/node-index.ts';
import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Ledger, TakenAddress } from '#pkg/ledger/ledger.ts';
import { toTaken } from '#pkg/ledger/taken-address.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';
import { PoolView } from './pool-view.ts';

interface KnownView {
  readonly view: PoolView;
  readonly reserved: IntervalSet;
}

/** The views of the pools this node uses, each made at its pool's first use and anew when pool or reservations change. */
export class PoolViews {
  readonly #views = new Map<string, KnownView>();
  readonly #freeListeners = new Set<(pool: string) => void>();
  readonly #catalog: PoolCatalog;
  readonly #ledger: Ledger;
  readonly #index: NodeIndex;
  readonly #node: string;
  readonly #mostCreates: number | undefined;

  /** `mostCreates` at once in each pool. */
  constructor(catalog: PoolCatalog, ledger: Ledger, index: NodeIndex, node: string, mostCreates?: number) {
    this.#catalog = catalog;
    this.#ledger = ledger;
    this.#index = index;
    this.#node = node;
    this.#mostCreates = mostCreates;
    catalog.onChange(() => this.#forgetGone());
  }

  of(pool: Pool): PoolView {
    const reserved = this.#catalog.current().reserved[pool.family];
    const known = this.#views.get(pool.name);
    if (known !== undefined && known.view.pool === pool && known.reserved === reserved) return known.view;
    const view: PoolView = new PoolView(pool, {
      reserved,
      node: this.#node,
      load: () => this.#takenOf(pool),
      mostCreates: this.#mostCreates,
      onPutBack: (value) => this.#putBack(view, value),
      before: known !== undefined && isSamePool(known.view.pool, pool) ? known.view : undefined,
    });
    this.#views.set(pool.name, { view, reserved });
    return view;
  }

  /** The view of a pool as the catalog has it now. Null where the catalog has none, or this node has not used it yet. */
  known(name: string): PoolView | null {
    const pool = this.#catalog.current().pools.get(name);
    return pool === undefined || !this.#views.has(name) ? null : this.of(pool);
  }

  /** What the ledger has under the pool's name, and what this node knows to be held of its addresses under another. */
  async #takenOf(pool: Pool): Promise<TakenAddress[]> {
    const strangers = this.#index
      .all()
      .filter((record) => record.spec.pool.name !== pool.name && isAddressOf(record, pool))
      .map(toTaken);
    const taken = await this.#ledger.takenOf(pool.name);
    return [...taken.filter((it) => it.domain === pool.domain && it.family === pool.family), ...strangers];
  }

  /** An address came back by our own hand: every pool that has it may give it again. */
  markFree(record: IpRecord): void {
    const { value } = parseAddress(record.spec.address);
    for (const { view } of this.#views.values()) {
      if (!isNumberOf(record, view.pool)) continue;
      // A pool that lost the address may get it back.
      view.markFree(value);
      if (view.pool.addresses.contains(value)) this.#tellFree(view.pool.name);
    }
  }

  /** Calls the listener when a pool has a free address again. */
  onFree(listener: (pool: string) => void): Disposable {
    this.#freeListeners.add(listener);
    return { [Symbol.dispose]: () => this.#freeListeners.delete(listener) };
  }

  /** The pool may have another view by now. */
  #putBack(picked: PoolView, value: bigint): void {
    const { name } = picked.pool;
    const current = this.#views.get(name)?.view;
    if (current !== undefined && current !== picked) current.markFree(value);
    this.#tellFree(name);
  }

  #tellFree(pool: string): void {
    for (const listener of this.#freeListeners) listener(pool);
  }

  #forgetGone(): void {
    const { pools } = this.#catalog.current();
    for (const name of this.#views.keys()) if (!pools.has(name)) this.#views.delete(name);
  }
}

/** A pool that was created again under its name is another pool, and gets a new view. */
function isSamePool(a: Pool, b: Pool): boolean {
  return a.uid === b.uid && a.domain === b.domain && a.family === b.family;
}

function isAddressOf(record: IpRecord, pool: Pool): boolean {
  return isNumberOf(record, pool) && pool.addresses.contains(parseAddress(record.spec.address).value);
}

function isNumberOf(record: IpRecord, { domain, family }: Pool): boolean {
  return record.spec.domain === domain && recordFamily(record) === family;
}
