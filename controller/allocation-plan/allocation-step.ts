import type { Address } from '#pkg/ip/address.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { StatusPatch } from './allocation-status.ts';

/** Why there is nothing to do for an IPAllocation until something changes. */
export type AllocationRest =
  | 'allocated'
  | 'released'
  | 'waits'
  | 'exhausted'
  | 'address-held'
  | 'finalizer-stripped'
  | 'in-use-by-others';

/** `heldRecord`: the name of the record whose end is waited for. */
interface Rest {
  readonly why: AllocationRest;
  readonly heldRecord?: string;
}

/** One write or read, or none. Each is decided by looking whether it is done already, so a crash between two of them costs nothing. */
export type AllocationStep =
  | ({ readonly do: 'rest' } & Rest)
  /** Finalizer, labels, owner, annotation: whatever is missing, in one write. */
  | { readonly do: 'write-metadata'; readonly metadata: Readonly<Record<string, unknown>> }
  | ({ readonly do: 'write-status'; readonly status: StatusPatch } & Rest)
  /** This address and no other; null: the lowest that is free. */
  | { readonly do: 'take'; readonly address: Address | null }
  /** The record does not name its IPAllocation with its uid: it was imported, or is of one before it that vanished. */
  | { readonly do: 'name-record'; readonly record: IpRecord }
  /** Ask the API server whether the NetworkConfiguration is gone. */
  | { readonly do: 'look-for-configuration' }
  /** `isReclaimed`: its time is over; the NetworkConfiguration is looked for once more before. */
  | { readonly do: 'release'; readonly record: IpRecord; readonly isReclaimed: boolean }
  | { readonly do: 'remove-finalizer' };
