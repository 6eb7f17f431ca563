import type { ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import type { Family } from '#pkg/ip/address.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';

/** All pools and reserved addresses at one moment. A pool that did not change is the same object in the next snapshot. */
export interface CatalogSnapshot {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly reservedIps: readonly ReservedIp[];
  readonly reserved: Readonly<Record<Family, IntervalSet>>;
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
