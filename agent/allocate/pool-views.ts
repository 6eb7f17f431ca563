import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { parseAddress } from '#pkg/ip/address.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolCatalog } from '../pool-catalog.ts';
import { PoolView } from './pool-view.ts';

/** The views of the pools this node uses, each made at its pool's first use and anew when pool or reservations change. */
export class PoolViews {
  readonly #views = new Map<string, { view: PoolView; reserved: IntervalSet }>();
  readonly #catalog: PoolCatalog;
  readonly #ledger: Ledger;
  readonly #node: string;

  constructor(catalog: PoolCatalog, ledger: Ledger, node: string) {
    this.#catalog = catalog;
    this.#ledger = ledger;
    this.#node = node;
    catalog.onChange(() => this.#forgetGone());
  }

  of(pool: Pool): PoolView {
    const reserved = this.#catalog.current().reserved[pool.family];
    const known = this.#views.get(pool.name);
    if (known !== undefined && known.view.pool === pool && known.reserved === reserved) return known.view;
    const view = new PoolView(pool, reserved, this.#node, () => this.#ledger.takenOf(pool.name));
    this.#views.set(pool.name, { view, reserved });
    return view;
  }

  /** The pool, or what is reserved in it, is not what the view was made of any more. */
  isOutdated(view: PoolView): boolean {
    const { pools, reserved } = this.#catalog.current();
    const known = this.#views.get(view.pool.name);
    return pools.get(view.pool.name) !== view.pool || known?.reserved !== reserved[view.pool.family];
  }

  /** An address came back by our own hand. */
  markFree(record: IpRecord): void {
    this.#views.get(record.spec.pool.name)?.view.markFree(parseAddress(record.spec.address).value);
  }

  #forgetGone(): void {
    const { pools } = this.#catalog.current();
    for (const name of this.#views.keys()) if (!pools.has(name)) this.#views.delete(name);
  }
}
