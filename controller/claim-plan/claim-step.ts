import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { ClaimStatus } from './claim-status.ts';

/** Why there is nothing to do for a claim until something changes. */
export type RestReason =
  | 'ready'
  | 'pool-not-ready'
  /** A move may be bringing its IPAddress. */
  | 'arriving'
  /** An address is free for it, and nothing new is given out for a while. */
  | 'held'
  | 'exhausted'
  | 'allocation-failed'
  | 'cluster-paused'
  | 'cluster-missing'
  | 'claim-paused'
  | 'pool-paused'
  | 'moved-away'
  | 'finalizer-stripped'
  | 'in-use-by-others'
  | 'address-ending'
  | 'address-without-record';

/** One write, or none. Each is decided by looking whether it is done already, so a crash between two of them costs nothing. */
export type ClaimStep =
  | { readonly do: 'rest'; readonly why: RestReason }
  | { readonly do: 'add-finalizer' }
  /** Choose the lowest free address of the pool and create its record. */
  | { readonly do: 'take' }
  /** The record lacks the uid of its claim: it was made before the claim was seen. */
  | { readonly do: 'name-record'; readonly record: IpRecord }
  | { readonly do: 'create-address'; readonly record: IpRecord }
  /** Owner references, finalizer and label of an IPAddress that another client made. */
  | { readonly do: 'adopt-address'; readonly metadata: Readonly<Record<string, unknown>> }
  | { readonly do: 'write-status'; readonly status: ClaimStatus; readonly why: RestReason }
  | { readonly do: 'release'; readonly record: IpRecord; readonly cooldownSeconds: number }
  | { readonly do: 'unprotect-address' }
  | { readonly do: 'delete-address' }
  | { readonly do: 'remove-finalizer' };
