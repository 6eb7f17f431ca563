import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import type { Address } from '#pkg/ip/address.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { NetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';

/** All that the next step of one IPAllocation may rest on. */
export interface ObservedAllocation {
  readonly allocation: IpAllocation;
  /** Null: there is no such NetworkNamespace. */
  readonly network: NetworkNamespace | null;
  /** Its pool with the reserved addresses; null where the static block makes none. */
  readonly facts: PoolFacts | null;
  /** Null: there is no such NetworkConfiguration. */
  readonly configuration: { readonly uid: string; readonly isDeleting: boolean } | null;
  /** How long it has been gone by reads of the API server itself; null: it was not looked up yet. */
  readonly configurationGoneMs: number | null;
  /** The records of this IPAllocation, and of one of its name and NetworkConfiguration that vanished. */
  readonly records: readonly IpRecord[];
  /** The holder of an address in the domain of the pool. */
  readonly recordAt: (address: Address) => IpRecord | null;
  /** Whether the IPAllocation that the record names is gone, or is another one now. */
  readonly isVanished: (record: IpRecord) => boolean;
  readonly room: {
    /** Whether an address is left for this one after those that have waited longer. */
    readonly hasFree: boolean;
    /** How many addresses could ever be given out. */
    readonly total: bigint;
    /** The holders, where they are few enough to be named; else empty. */
    readonly holders: () => string;
  };
  /** The domain that addresses of the network are in use in, if the network names another one now. Looked for only without a record. */
  readonly otherDomain: string | null;
  /** Why nothing new is given out for a while; null if it is. */
  readonly hold: string | null;
  /** Whether the API server has just refused a write that its address needs: the status says so. */
  readonly isRefused: boolean;
  /** Since when this process leads, its clock was not set, and addresses have the time that they have: a shorter one would end all at once. */
  readonly evenSince: Date;
}
