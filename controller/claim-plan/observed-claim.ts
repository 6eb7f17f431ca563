import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import type { MachineAddress } from '#pkg/capi/read-ip-address.ts';
import type { Labels } from '#pkg/pool/request.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** `unnamed`: the claim belongs to no cluster, so none is asked. */
export type ClusterState = 'unnamed' | 'missing' | 'paused' | 'running';

/** All that the next step of one claim may rest on. */
export interface ObservedClaim {
  readonly claim: Claim;
  readonly cluster: ClusterState;
  /** Null: there is no such pool. */
  readonly pool: PoolFacts | null;
  readonly isPoolPaused: boolean;
  /** It came with our finalizer a moment ago, and names no cluster that could be paused: a move may be bringing its IPAddress. */
  readonly isArriving: boolean;
  /** Empty if the namespace is not known yet. */
  readonly namespaceLabels: Labels;
  /** The IPAddress of the claim's name. */
  readonly address: MachineAddress | null;
  /** The record of that address, of any holder. */
  readonly addressRecord: IpRecord | null;
  /** The records of this very claim. */
  readonly records: readonly IpRecord[];
  readonly room: Room;
  /** Why the pool gives nothing new to claims for a while; null if it does. */
  readonly hold: string | null;
}

interface Room {
  /** Whether an address is left for this claim after the claims that have waited longer. */
  readonly hasFree: boolean;
  /** How many addresses could ever be given out. */
  readonly total: bigint;
  /** The holders, where they are few enough to be named; else empty. */
  readonly holders: () => string;
  /** How many claims wait for an address of this pool, this one among them. */
  readonly waiting: number;
}
