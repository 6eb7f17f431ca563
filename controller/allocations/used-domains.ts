import type { RecordsView } from '#controller/project/records-view.ts';
import type { Pool } from '#pkg/pool/pool.ts';

/** Whether the domain of a NetworkNamespace was changed while addresses of it are in use. No webhook refuses that. */
export class UsedDomains {
  readonly #records: Pick<RecordsView, 'walkPool'>;
  /** Pools that were looked through: a pool is another object after each edit, and all new records are in its own domain. */
  readonly #settled = new WeakSet<Pool>();

  constructor(records: Pick<RecordsView, 'walkPool'>) {
    this.#records = records;
  }

  /** A domain that records of the pool are in, if it is not the pool's. */
  otherThan(pool: Pool): string | null {
    if (this.#settled.has(pool)) return null;
    for (const { spec } of this.#records.walkPool(pool.name)) if (spec.domain !== pool.domain) return spec.domain;
    this.#settled.add(pool);
    return null;
  }
}
