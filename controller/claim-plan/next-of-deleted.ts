import { ADDRESS_FINALIZER, CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import type { MachineAddress } from '#pkg/capi/read-ip-address.ts';
import { foreignFinalizers } from '#pkg/kube/objects/foreign-finalizers.ts';
import { isAddressOfClaim } from './address-objection.ts';
import type { ClaimStep } from './claim-step.ts';
import type { ObservedClaim } from './observed-claim.ts';

/**
 * The next step of a claim that is being deleted: record, IPAddress, finalizer. Nothing is given back while a finalizer of another controller
 * on the claim or on its IPAddress says that the address is in use.
 */
export function nextOfDeleted({ claim, address, addressRecord, records, pool }: ObservedClaim): ClaimStep {
  // Without our finalizer the claim is not ours to release: a move removes it, and the address is in use elsewhere.
  if (!claim.finalizers.includes(CLAIM_FINALIZER)) return { do: 'rest', why: 'finalizer-stripped' };
  if (foreignFinalizers(claim.finalizers, CLAIM_FINALIZER).length > 0) return { do: 'rest', why: 'in-use-by-others' };
  const own = address !== null && isAddressOfClaim(address, claim, addressRecord) ? address : null;
  if (own !== null && foreignFinalizers(own.finalizers, ADDRESS_FINALIZER).length > 0) {
    // The deletion makes their controllers remove them.
    return own.isTerminating ? { do: 'rest', why: 'in-use-by-others' } : { do: 'delete-address' };
  }
  const [record] = records;
  if (record !== undefined) {
    return { do: 'release', record, cooldownSeconds: pool?.pool?.reuseCooldownSeconds ?? 0 };
  }
  return own === null ? { do: 'remove-finalizer' } : endAddress(own);
}

/** Deleted first, then let go: as long as it is there it has our finalizer, and is known as ours without its reference to the claim. */
function endAddress({ finalizers, isTerminating }: MachineAddress): ClaimStep {
  if (!isTerminating) return { do: 'delete-address' };
  return finalizers.includes(ADDRESS_FINALIZER) ? { do: 'unprotect-address' } : { do: 'rest', why: 'address-ending' };
}
