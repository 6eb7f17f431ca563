import type { ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import type { ReservedAddresses } from '#pkg/crd/reserved-addresses.ts';
import { affinityApplication } from '#pkg/pool/auto-pool.ts';
import { compareText } from '#pkg/pool/order.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Controller } from '#pkg/pool/request.ts';

/** All pools and reserved addresses at one moment. A pool that did not change is the same object in the next snapshot. */
export interface CatalogSnapshot {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly list: readonly Pool[];
  /** Pools that were made for one application, by its `applicationName`: whatever its kind and uid are. */
  readonly ofApplications: ReadonlyMap<string, readonly Pool[]>;
  readonly reservedIps: readonly ReservedIp[];
  readonly reserved: ReservedAddresses;
  /** Pools that overlap an earlier one, and why. They give out nothing. */
  readonly overlaps: ReadonlyMap<string, string>;
  /** Files or pools that cannot be used, one line each. */
  readonly problems: readonly string[];
}

/** The source of pools: files when standalone, the API server in a cluster. */
export interface PoolCatalog {
  current(): CatalogSnapshot;
  onChange(listener: () => void): Disposable;
}

/** The pools of a snapshot, ordered by name. */
export function catalogPools(pools: Iterable<Pool>): Pick<CatalogSnapshot, 'pools' | 'list' | 'ofApplications'> {
  const list = [...pools].toSorted((a, b) => compareText(a.name, b.name));
  const made = list.flatMap((pool) => {
    const application = pool.auto === null ? null : affinityApplication(pool.podAffinity?.matchLabels ?? {});
    return application === null ? [] : [{ pool, name: applicationName(application) }];
  });
  const byName = Map.groupBy(made, ({ name }) => name);
  return {
    pools: new Map(list.map((pool) => [pool.name, pool])),
    list,
    ofApplications: new Map([...byName].map(([name, entries]) => [name, entries.map(({ pool }) => pool)])),
  };
}

export function applicationName({ namespace, name }: Pick<Controller, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
