import type { Logger } from 'pino';
import { keepReserved } from '#agent/sources/keep-reserved.ts';
import { type CatalogSnapshot, catalogPools, type PoolCatalog } from '#agent/sources/pool-catalog.ts';
import { findLaterOverlaps } from '#pkg/crd/later-overlaps.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import { compareText } from '#pkg/pool/order.ts';
import { PoolSpecs } from './pool-specs.ts';
import { ReservedIpCache } from './reserved-ip-cache.ts';

/**
 * Pools and reserved addresses as the API server has them. A pool that cannot be read is not used, whatever it was before:
 * the API server is the truth. Of pools that overlap the earliest is used; the record's name keeps them apart anyway.
 */
export class PoolCache implements PoolCatalog, AsyncDisposable {
  /** All pools and reserved addresses have been read once; rejects only if this was disposed of before. */
  readonly synced: Promise<void>;
  readonly #log: Logger;
  readonly #specs: PoolSpecs;
  readonly #reserved: ReservedIpCache;
  readonly #listeners = new Set<() => void>();
  readonly #settle: { resolve: () => void; reject: (error: Error) => void };
  #isReservedListed = false;
  #isPublishing = false;
  #snapshot: CatalogSnapshot | null = null;

  constructor(client: KubeClient, log: Logger) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.synced = promise;
    promise.catch(() => {}); // a promise without a waiter must not end the process
    this.#settle = { resolve, reject };
    this.#log = log;
    const onChange = () => this.#publishSoon();
    this.#specs = new PoolSpecs(client, log, onChange);
    this.#reserved = new ReservedIpCache(client, log, onChange);
    this.#reserved.synced.then(
      () => {
        this.#isReservedListed = true;
        onChange();
      },
      () => {}, // stopped
    );
  }

  current(): CatalogSnapshot {
    if (this.#snapshot === null) throw new IpamError('api-server-unavailable', 'the pools have not been read yet');
    return this.#snapshot;
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#specs[Symbol.asyncDispose](), this.#reserved[Symbol.asyncDispose]()]);
    this.#settle.reject(new Error('the agent stops; it no longer waits for the pools'));
  }

  /** Once for all changes of one batch. */
  #publishSoon(): void {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    setImmediate(() => {
      this.#isPublishing = false;
      this.#publish();
    });
  }

  #publish(): void {
    if (this.#snapshot === null && !(this.#isReservedListed && this.#specs.isComplete)) return;
    const before = this.#snapshot;
    const next = this.#assemble(before);
    if (before !== null && isSame(before, next)) return;
    this.#snapshot = next;
    this.#report(before, next);
    this.#settle.resolve();
    for (const listener of this.#listeners) this.#notify(listener);
  }

  #assemble(before: CatalogSnapshot | null): CatalogSnapshot {
    const dated = this.#specs.pools.toSorted((a, b) => compareText(a.pool.name, b.pool.name));
    const reservedIps = this.#reserved.all.toSorted((a, b) => compareText(a.name, b.name));
    return {
      ...catalogPools(dated.map(({ pool }) => pool)),
      overlaps: findLaterOverlaps(dated),
      reservedIps,
      reserved: keepReserved(reservedIps, before),
      problems: [...this.#specs.problems, ...this.#reserved.problems].toSorted(compareText),
    };
  }

  #report(before: CatalogSnapshot | null, { pools, problems }: CatalogSnapshot): void {
    const known = new Set(before?.problems);
    for (const problem of problems) if (!known.has(problem)) this.#log.error({ problem }, 'pool not used');
    if (before === null) this.#log.info({ pools: pools.size, problems: problems.length }, 'pools loaded');
  }

  #notify(listener: () => void): void {
    try {
      listener();
    } catch (thrown) {
      this.#log.error({ why: toIpamError(thrown).message }, 'change of pools not handled');
    }
  }
}

function isSame(a: CatalogSnapshot, b: CatalogSnapshot): boolean {
  return (
    a.pools.size === b.pools.size &&
    [...b.pools].every(([name, pool]) => a.pools.get(name) === pool) &&
    isSameList(a.reservedIps, b.reservedIps) &&
    isSameList(a.problems, b.problems)
  );
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
