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
export function nextOfDeleted({ claim, address, records, pool }: ObservedClaim): ClaimStep {
  // Without our finalizer the claim is not ours to release: a move removes it, and the address is in use elsewhere.
  if (!claim.finalizers.includes(CLAIM_FINALIZER)) return { do: 'rest', why: 'finalizer-stripped' };
  if (foreignFinalizers(claim.finalizers, CLAIM_FINALIZER).length > 0) return { do: 'rest', why: 'in-use-by-others' };
  const own = address !== null && isAddressOfClaim(address, claim) ? address : null;
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

/** Our finalizer first: an IPAddress that is deleted and still protected would have to be touched again. */
function endAddress({ finalizers, isTerminating }: MachineAddress): ClaimStep {
  if (finalizers.includes(ADDRESS_FINALIZER)) return { do: 'unprotect-address' };
  return isTerminating ? { do: 'rest', why: 'address-ending' } : { do: 'delete-address' };
}
