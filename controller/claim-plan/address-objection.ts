import { ADDRESS_FINALIZER } from '#pkg/capi/contract-names.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import { isClaimReference, type MachineAddress } from '#pkg/capi/read-ip-address.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import { cidrContains, formatCidr } from '#pkg/ip/cidr.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/**
 * Whether the IPAddress was made or adopted for this very claim. What was not is not ours to delete. Where the reference to the claim
 * is missing, our finalizer tells: the garbage collector of Kubernetes removes the reference to a claim that is deleted in the
 * foreground, because the IPAddress has another owner, the pool. `record`: the one of its number.
 */
export function isAddressOfClaim(address: MachineAddress, claim: Claim, record: IpRecord | null): boolean {
  if (address.claim !== claim.name || address.pool !== claim.pool) return false;
  if (address.claimUid !== null) return address.claimUid === claim.uid;
  return address.finalizers.includes(ADDRESS_FINALIZER) && !isOfEarlierClaim(record, claim);
}

function isOfEarlierClaim(record: IpRecord | null, { namespace, name, uid }: Claim): boolean {
  const { kind, namespace: heldIn, name: heldBy, uid: heldUid } = record?.spec.holder ?? {};
  return (
    kind === 'IPAddressClaim' && heldIn === namespace && heldBy === name && heldUid !== undefined && heldUid !== uid
  );
}

/** Why the IPAddress of the claim's name cannot be the one of the claim; null if it can. It is never changed or deleted for that. */
export function objectToAddress(address: MachineAddress, claim: Claim): string | null {
  const name = `IPAddress ${address.namespace}/${address.name}`;
  if (address.claim !== claim.name) return `${name} names another claim (${address.claim ?? 'none'}); delete it`;
  if (address.pool !== claim.pool)
    return `${name} names another pool (${address.pool ?? 'not one of ours'}); delete it`;
  if (address.claimUid !== null && address.claimUid !== claim.uid) {
    return `${name} belongs to an earlier claim of this name (uid ${address.claimUid}), whose machine may still use the address; delete it once that machine is gone`;
  }
  const other = address.owners.find((owner) => owner['controller'] === true && !isClaimReference(owner));
  if (other !== undefined)
    return `${name} is controlled by ${String(other['kind'])} ${String(other['name'])}; delete it`;
  return null;
}

/** Why the address of an IPAddress can get no record in this pool; null if it can. */
export function objectToNumber({ namespace, name, address }: MachineAddress, pool: Pool): string | null {
  if (address === null) return `spec.address of IPAddress ${namespace}/${name} is not an IP address`;
  const text = formatAddress(address);
  if (!cidrContains(pool.subnet, address))
    return `${text} is not in ${formatCidr(pool.subnet)}, the subnet of ${pool.name}`;
  return pool.gateway?.value === address.value ? `${text} is the gateway of pool ${pool.name}` : null;
}
