import { type Address, formatAddress } from '#pkg/ip/address.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { leftRecordAt, objectToAsked, objectToHolder, objectToPlace, readRequested } from './address-objection.ts';
import { planAllocationStatus, type WantedStatus } from './allocation-status.ts';
import type { AllocationRest, AllocationStep } from './allocation-step.ts';
import { missingAllocationMetadata } from './missing-metadata.ts';
import { objectToDomain, objectToNetwork } from './network-objection.ts';
import { nextOfDeletedAllocation } from './next-of-deleted-allocation.ts';
import { nextOfHeld } from './next-of-held.ts';
import type { ObservedAllocation } from './observed-allocation.ts';

/**
 * The next step of an IPAllocation. Finalizer, Pending, record, Allocated: in this order, each only if it is not there, so that after
 * a crash anywhere the same steps follow. The caller carries one out, observes again and asks again.
 */
export function nextOfAllocation(seen: ObservedAllocation, now: Date): AllocationStep {
  if (seen.allocation.isDeleting) return nextOfDeletedAllocation(seen);
  // A record that exists decides. What the status says besides may be the word of a late writer.
  return seen.records.length === 0 ? nextWithoutRecord(seen) : nextOfHeld(seen, now);
}

function nextWithoutRecord(seen: ObservedAllocation): AllocationStep {
  const { allocation, configuration, room, network } = seen;
  const isReclaimed = allocation.phase === 'Released';
  if (!isReclaimed && allocation.shownAddress !== null) return nextOfShown(seen, allocation.shownAddress);
  if (isReclaimed && configuration === null) return { do: 'rest', why: 'released' };
  const objection = objectToNetwork(seen);
  if (objection !== null) return say(seen, objection, 'waits');
  const asked = readRequested(allocation.requestedAddress);
  if (asked !== null) return 'problem' in asked ? fail(seen, asked.problem) : nextOfAsked(seen, asked);
  const { lastAddress } = allocation;
  if (lastAddress !== null && objectToAsked(lastAddress, seen) === null) return prepare(seen, lastAddress);
  if (room.hasFree) return prepare(seen, null);
  return fail(seen, `NetworkNamespace ${network?.name} is exhausted: ${sayUse(room)}`, 'exhausted');
}

function sayUse({ total, holders }: ObservedAllocation['room']): string {
  if (total === 0n) return 'all of them are reserved';
  const named = holders();
  return `${total}/${total} addresses are in use${named === '' ? '' : ` (${named})`}`;
}

/** Exactly what was asked for, or nothing: no substitute is given. */
function nextOfAsked(seen: ObservedAllocation, address: Address): AllocationStep {
  const refusal = objectToAsked(address, seen);
  return refusal === null ? prepare(seen, address) : refuse(seen, refusal.message, refusal.heldBy);
}

/**
 * The status shows an address that has no record: another operator gave it, or the record was deleted by hand. The machine has it, so it
 * gets its record, whatever the range says now. No machine is renumbered, and no other address is given instead.
 */
function nextOfShown(seen: ObservedAllocation, address: Address): AllocationStep {
  const { facts, network, allocation } = seen;
  const text = formatAddress(address);
  if (facts?.pool == null) {
    const why = network === null ? 'does not exist' : `has no pool: ${network.problem}`;
    return fail(
      seen,
      `${text}, which it shows, has no record, and NetworkNamespace ${allocation.networkNamespace} ${why}`,
    );
  }
  const outside = objectToPlace(address, facts.pool);
  if (outside !== null) return fail(seen, `it shows an address that it cannot have: ${outside}`);
  const moved = objectToDomain(seen);
  if (moved !== null) return fail(seen, moved);
  const refusal = objectToHolder(address, seen);
  if (refusal !== null) {
    return refuse(seen, `${refusal.message}; both are left as they are, and one of the two has to go`, refusal.heldBy);
  }
  const metadata = missingAllocationMetadata(seen);
  return metadata === null ? take(seen, address) : { do: 'write-metadata', metadata };
}

/** Nothing stands in the way any more. */
function prepare(seen: ObservedAllocation, address: Address | null): AllocationStep {
  const metadata = missingAllocationMetadata(seen);
  if (metadata !== null) return { do: 'write-metadata', metadata };
  // Each try would write twice otherwise: Pending, and the refusal again.
  if (seen.allocation.phase === 'Pending' || seen.isRefused) return take(seen, address);
  const message = `an address of NetworkNamespace ${seen.allocation.networkNamespace} is being taken`;
  const step = say(seen, { phase: 'Pending', message }, 'waits');
  return step.do === 'rest' ? take(seen, address) : step;
}

function take(seen: ObservedAllocation, address: Address | null): AllocationStep {
  const left = address === null ? null : leftRecordAt(address, seen);
  return left === null ? { do: 'take', address } : { do: 'name-record', record: left };
}

function fail(seen: ObservedAllocation, message: string, why: AllocationRest = 'waits'): AllocationStep {
  return say(seen, { phase: 'Error', message }, why);
}

function refuse(seen: ObservedAllocation, message: string, heldBy: IpRecord | undefined): AllocationStep {
  const step = fail(seen, message, heldBy === undefined ? 'waits' : 'address-held');
  const isSaid = step.do === 'rest' || step.do === 'write-status';
  return heldBy === undefined || !isSaid ? step : { ...step, heldRecord: heldBy.name };
}

/** The first phase is Pending, whatever becomes of it: the page has no way from nothing to Error. */
function say({ allocation }: ObservedAllocation, wanted: WantedStatus, why: AllocationRest): AllocationStep {
  const isFirst = allocation.phase === null && wanted.phase === 'Error';
  const message = `asks NetworkNamespace ${allocation.networkNamespace} for an address`;
  const status = planAllocationStatus(allocation, isFirst ? { phase: 'Pending', message } : wanted);
  return status === null ? { do: 'rest', why } : { do: 'write-status', status, why };
}
