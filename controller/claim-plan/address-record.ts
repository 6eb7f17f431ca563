import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import { draftClaimRecord, isRecordOfClaim } from '#pkg/capi/claim-record.ts';
import { ADDRESS_FINALIZER } from '#pkg/capi/contract-names.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import type { MachineAddress } from '#pkg/capi/read-ip-address.ts';
import { describeHolder, type IpRecord, type RecordSpec } from '#pkg/record/ip-record.ts';
import { objectToNumber } from './address-objection.ts';

export interface ObservedAddress {
  readonly address: MachineAddress;
  /** The claim that it names, if it is here. */
  readonly claim: Claim | null;
  readonly pool: PoolFacts | null;
  /** The record of its number in the domain of the pool. */
  readonly record: IpRecord | null;
}

export type AddressVerdict =
  | { readonly do: 'nothing' }
  | { readonly do: 'create'; readonly spec: RecordSpec }
  /** It is being deleted, and no claim is left that our finalizer protects. */
  | { readonly do: 'let-go' }
  /** It has no record and gets none; this is reported. */
  | { readonly do: 'report'; readonly message: string };

const NOTHING = { do: 'nothing' } as const;

/**
 * Every IPAddress of our pools has a record, also while its cluster is paused: what a move brings is taken before another claim asks for
 * it. An IPAddress that is ending gets none, and neither does one whose claim is giving its address back just now.
 */
export function planAddressRecord({ address, claim, pool, record }: ObservedAddress): AddressVerdict {
  if (address.isTerminating) {
    // Its record stays: that the machine is gone too is for an operator to say.
    return claim === null && address.finalizers.includes(ADDRESS_FINALIZER) ? { do: 'let-go' } : NOTHING;
  }
  if (address.claim === null || pool?.pool == null) return NOTHING;
  const isNamedLikeClaim = address.claim === address.name;
  // A claim of another pool only has the name.
  const own = isNamedLikeClaim && claim?.pool === address.pool ? claim : null;
  if (own?.isDeleting === true && !own.isMovedAway) return NOTHING;
  const uid = isNamedLikeClaim ? (address.claimUid ?? own?.uid) : undefined;
  // Of its own name: a claim gives back the records of its name, and would give back the number of an IPAddress that it never gets.
  const { namespace, name } = address;
  const identity = { namespace, name, pool: pool.name, ...(uid === undefined ? {} : { uid }) };
  if (record !== null) {
    return isRecordOfClaim(record, identity) ? NOTHING : { do: 'report', message: describeCollision(address, record) };
  }
  const objection = objectToNumber(address, pool.pool);
  if (objection !== null || address.address === null) return { do: 'report', message: objection ?? '' };
  return { do: 'create', spec: draftClaimRecord(pool.pool, address.address, identity) };
}

function describeCollision({ namespace, name }: MachineAddress, record: IpRecord): string {
  const holder = describeHolder(record);
  return `${record.spec.address} of IPAddress ${namespace}/${name} has a record of ${holder}; both are left as they are, and one of the two has to go`;
}
