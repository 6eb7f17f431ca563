import type { ReservedIp } from '#pkg/crd/decode-reserved-ip.ts';
import type { Family } from '#pkg/ip/address.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';

/** All pools and reserved addresses at one moment. A pool that did not change is the same object in the next snapshot. */
export interface CatalogSnapshot {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly reservedIps: readonly ReservedIp[];
  readonly reserved: Readonly<Record<Family, IntervalSet>>;
  /** Why a pool must leave its addresses to an earlier one; nothing is given out of it. */
  readonly overlaps: ReadonlyMap<string, string>;
  /** What could not be used, each said in one line. */
  readonly problems: readonly string[];
}

/** Where the agent learns of pools: files when standalone, the API server in a cluster. */
export interface PoolCatalog {
  current(): CatalogSnapshot;
  onChange(listener: () => void): Disposable;
}
