import type { ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import type { ReservedAddresses } from '#pkg/crd/reserved-addresses.ts';
import type { Pool } from '#pkg/pool/pool.ts';

/** All pools and reserved addresses at one moment. A pool that did not change is the same object in the next snapshot. */
export interface CatalogSnapshot {
  readonly pools: ReadonlyMap<string, Pool>;
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
