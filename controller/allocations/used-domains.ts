import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

interface Records {
  walkPool(pool: string): Iterable<IpRecord>;
}

/** Whether the domain of a NetworkNamespace was changed while addresses of it are in use. No webhook refuses that. */
export class UsedDomains {
  readonly #records: Records;
  /** The pools that records are being created of: no view shows these yet. */
  readonly #underWay = new Set<Pool>();
  /** Pools that were looked through: a pool is another object after each edit, and all new records are in its own domain. */
  readonly #settled = new WeakSet<Pool>();

  constructor(records: Records) {
    this.#records = records;
  }

  /** A domain that records of the pool are in, if it is not the pool's. */
  otherThan(pool: Pool): string | null {
    if (this.#settled.has(pool)) return null;
    for (const { name, domain } of this.#underWay) if (name === pool.name && domain !== pool.domain) return domain;
    for (const { spec } of this.#records.walkPool(pool.name)) if (spec.domain !== pool.domain) return spec.domain;
    this.#settled.add(pool);
    return null;
  }

  /** A record of the pool is created by `create`. */
  async during<T>(pool: Pool, create: () => Promise<T>): Promise<T> {
    // Another one each time: two may be under way at once.
    const own = { ...pool };
    this.#underWay.add(own);
    try {
      return await create();
    } finally {
      this.#underWay.delete(own);
    }
  }
}
