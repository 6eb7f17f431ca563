import { ADDRESS_FINALIZER, CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import type { MachineAddress } from '#pkg/capi/read-ip-address.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';
import { recordValue } from '#pkg/record/record-value.ts';
import { objectToAddress, objectToNumber } from './address-objection.ts';
import { objectToClaim } from './claim-objection.ts';
import { type ClaimVerdict, planClaimStatus } from './claim-status.ts';
import type { ClaimStep, RestReason } from './claim-step.ts';
import { missingMetadata } from './draft-ip-address.ts';
import { nextOfDeleted } from './next-of-deleted.ts';
import type { ObservedClaim } from './observed-claim.ts';

/**
 * The next step of a claim. Finalizer, record, IPAddress, status: in this order, each only if it is not there, so that after a crash
 * anywhere the same steps follow. The caller carries one out, observes again and asks again.
 */
export function nextStep(seen: ObservedClaim, now: Date): ClaimStep {
  const pause = findPause(seen);
  if (pause !== null) return { do: 'rest', why: pause };
  if (seen.claim.isDeleting) return nextOfDeleted(seen);
  if (seen.cluster === 'missing') return { do: 'rest', why: 'cluster-missing' };
  if (!seen.claim.finalizers.includes(CLAIM_FINALIZER)) return { do: 'add-finalizer' };
  return seen.address === null ? nextWithoutAddress(seen, now) : nextWithAddress(seen, seen.address, now);
}

function findPause({ claim, cluster, isPoolPaused }: ObservedClaim): RestReason | null {
  if (cluster === 'paused') return 'cluster-paused';
  if (claim.isPaused) return 'claim-paused';
  if (claim.isDeleting && claim.isMovedAway) return 'moved-away';
  return isPoolPaused ? 'pool-paused' : null;
}

function nextWithAddress(seen: ObservedClaim, address: MachineAddress, now: Date): ClaimStep {
  const { claim, records, pool } = seen;
  const objection = objectToAddress(address, claim);
  if (objection !== null) {
    // As the message asks. Our finalizer was for an earlier claim of this name.
    if (isHeldBack(address)) return { do: 'unprotect-address' };
    return say(seen, now, failed(objection), 'allocation-failed');
  }
  const text = address.address === null ? null : formatAddress(address.address);
  const kept = records.find(({ spec }) => spec.address === text);
  // Deleted by hand: it is let go, and made again from its record.
  if (address.isTerminating) return letGo(address);
  if (kept === undefined) return withoutRecord(seen, address, now);
  if (kept.spec.holder.uid === undefined) return { do: 'name-record', record: kept };
  const surplus = records.find((record) => record !== kept);
  if (surplus !== undefined) return { do: 'release', record: surplus, cooldownSeconds: 0 };
  const metadata = missingMetadata(address, claim, ownerUid(pool));
  if (metadata !== null) return { do: 'adopt-address', metadata };
  return say(seen, now, { isReady: true, message: `${kept.spec.address} of pool ${claim.pool}` }, 'ready');
}

/** A pool that is deleted in the foreground loses its references to the garbage collector. To add them again would never end. */
function ownerUid(facts: ObservedClaim['pool']): string | null {
  const pool = facts?.pool ?? null;
  return pool === null || pool.isTerminating ? null : pool.uid;
}

function letGo(address: MachineAddress): ClaimStep {
  return isHeldBack(address) ? { do: 'unprotect-address' } : { do: 'rest', why: 'address-ending' };
}

function isHeldBack({ isTerminating, finalizers }: MachineAddress): boolean {
  return isTerminating && finalizers.includes(ADDRESS_FINALIZER);
}

/** The record of an IPAddress is not made here: every IPAddress gets one as soon as it is seen, also while its cluster is paused. */
function withoutRecord(seen: ObservedClaim, address: MachineAddress, now: Date): ClaimStep {
  const { claim, pool, addressRecord } = seen;
  if (pool?.pool == null)
    return say(seen, now, notReady(`pool ${claim.pool} does not exist or is not valid`), 'pool-not-ready');
  const objection = objectToNumber(address, pool.pool);
  if (objection !== null) return say(seen, now, failed(objection), 'allocation-failed');
  if (addressRecord === null) return { do: 'rest', why: 'address-without-record' };
  const { spec } = addressRecord;
  const message = `${spec.address} of IPAddress ${address.namespace}/${address.name} is held by ${describeHolder(addressRecord)}; release it, or delete the IPAddress`;
  return say(seen, now, failed(message), 'allocation-failed');
}

function nextWithoutAddress(seen: ObservedClaim, now: Date): ClaimStep {
  const { claim, pool, records, namespaceLabels, room, hold, isArriving } = seen;
  const [record] = records.toSorted(compareValues);
  if (record !== undefined) {
    return record.spec.holder.uid === undefined ? { do: 'name-record', record } : { do: 'create-address', record };
  }
  if (isArriving) return { do: 'rest', why: 'arriving' };
  const objection = objectToClaim(pool, claim, namespaceLabels);
  if (objection !== null) return say(seen, now, notReady(objection), 'pool-not-ready');
  if (room.hasFree) return hold === null ? { do: 'take' } : say(seen, now, notReady(hold), 'held');
  const { total, waiting } = room;
  const named = room.holders();
  const message = `pool ${claim.pool} is exhausted: ${total}/${total} addresses are in use${named === '' ? '' : ` (${named})`}, ${waiting} ${waiting === 1 ? 'claim waits' : 'claims wait'}`;
  return say(seen, now, { isReady: false, reason: 'PoolExhausted', message }, 'exhausted');
}

/** Whether it wants the next free address of its pool: those that were created later leave it that one. */
export function isInLine(seen: ObservedClaim, step: ClaimStep, now: Date): boolean {
  if (step.do === 'add-finalizer') {
    const claim = { ...seen.claim, finalizers: [...seen.claim.finalizers, CLAIM_FINALIZER] };
    const protectedClaim = { ...seen, claim };
    return isInLine(protectedClaim, nextStep(protectedClaim, now), now);
  }
  return step.do === 'take' || ('why' in step && (step.why === 'exhausted' || step.why === 'held'));
}

function compareValues(a: IpRecord, b: IpRecord): number {
  return recordValue(a) < recordValue(b) ? -1 : 1;
}

function failed(message: string): ClaimVerdict {
  return { isReady: false, reason: 'AllocationFailed', message };
}

function notReady(message: string): ClaimVerdict {
  return { isReady: false, reason: 'PoolNotReady', message };
}

function say({ claim }: ObservedClaim, now: Date, verdict: ClaimVerdict, why: RestReason): ClaimStep {
  const status = planClaimStatus(claim, verdict, now);
  return status === null ? { do: 'rest', why } : { do: 'write-status', status, why };
}
