import type { Address } from '#pkg/ip/address.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { allocatedSpec, type Holder, type IpRecord, isHeldState, type RecordSpec } from '#pkg/record/ip-record.ts';
import type { Claim } from './read-claim.ts';

/** Without a uid: the IPAddress is here, and its claim is not yet. */
type ClaimIdentity = Pick<Claim, 'namespace' | 'name' | 'pool'> & { readonly uid?: string };

export function draftClaimRecord(pool: Pool, address: Address, claim: Omit<ClaimIdentity, 'pool'>): RecordSpec {
  return allocatedSpec(pool, address, holderOfClaim(claim));
}

/** A machine's address is on no node and on no interface that we know. */
function holderOfClaim({ namespace, name, uid }: Omit<ClaimIdentity, 'pool'>): Holder {
  const holder = { kind: 'IPAddressClaim' as const, namespace, name, interface: '', attachGeneration: 1, node: '' };
  return uid === undefined ? holder : { ...holder, uid };
}

/**
 * Whether the record is of this very claim. An earlier claim of the same name had another uid, and the machine that it was made for
 * may still have the address. Without a uid that cannot be told, and the name decides. The record of another pool is of an IPAddress
 * that only has the name of the claim.
 */
export function isRecordOfClaim({ spec }: IpRecord, { namespace, name, uid, pool }: ClaimIdentity): boolean {
  const { kind, namespace: heldIn, name: heldBy, uid: heldUid } = spec.holder;
  const isNamed = kind === 'IPAddressClaim' && heldIn === namespace && heldBy === name;
  const isSame = heldUid === undefined || uid === undefined || heldUid === uid;
  return isNamed && isSame && isHeldState(spec.state) && spec.pool.name === pool;
}
