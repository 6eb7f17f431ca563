import type { SubnetLimits } from '#pkg/autopool/subnet-limits.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Controller } from '#pkg/pool/request.ts';
import type { IpNumber } from '#pkg/pool/subnet-wish.ts';
import type { RecordState } from '#pkg/record/ip-record.ts';

/** What one application wants of the subnet for one interface. */
export interface Wanted {
  readonly key: AutoPoolKey;
  /** How many addresses that can be given to its pods. */
  readonly count: number;
  /** As the annotation of the pool says it. */
  readonly number: IpNumber;
  readonly reclaim: boolean;
}

/** What a pool had until a moment ago: an agent with an old view may still give it out. */
export interface LeftRanges {
  /** Null: it cannot be decoded. */
  readonly pool: Pool | null;
  readonly dropped: IntervalSet;
}

/** A pool that has ranges of the subnet's network. */
export interface SubnetPool extends LeftRanges {
  readonly pool: Pool;
  /** RFC 3339 in UTC with whole seconds, as the API server writes it: text order is time order. */
  readonly createdAt: string;
  /** Its annotation `ippool-ip-number`. */
  readonly number: string | null;
}

export interface RecordInSubnet {
  readonly value: bigint;
  readonly state: RecordState;
  /** The name of its pool. */
  readonly pool: string;
}

/** Everything that decides about the auto pools of one subnet. */
export interface SubnetSituation {
  readonly subnet: SpiderSubnet;
  /** A text says why the limits cannot be read: nothing is given out then. */
  readonly limits: SubnetLimits | string;
  readonly wanted: readonly Wanted[];
  /** Applications that ask for something that cannot be read or counted. Their pools stay as they are. */
  readonly unclear: readonly Omit<Controller, 'uid'>[];
  readonly pools: readonly SubnetPool[];
  /** Pools of the network that were deleted a moment ago. */
  readonly gone: readonly LeftRanges[];
  /** Ranges of pools of the network that cannot be decoded. */
  readonly otherRanges: IntervalSet;
  /** All records with an address of the subnet's network and domain. */
  readonly records: readonly RecordInSubnet[];
  readonly reserved: IntervalSet;
  /** The name of any pool, also of another network. */
  readonly isPoolName: (name: string) => boolean;
  /** Living pods that hold addresses of the pool are controlled by the application with this uid now. */
  readonly isHeldBy: (pool: string, applicationUid: string) => boolean;
}
