import { ADDRESS_FINALIZER, CLUSTER_NAME_LABEL } from '#pkg/capi/contract-names.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import { isClaimReference, type MachineAddress } from '#pkg/capi/read-ip-address.ts';
import { CLAIMS } from '#pkg/kube/objects/capi-resources.ts';
import { apiVersionOf, type NewObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import type { StoredOwner } from '#pkg/kube/objects/stored-owner.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

const LABEL_VALUE = /^[a-z0-9](?:[-_.a-z0-9]{0,61}[a-z0-9])?$/i;

/** The IPAddress of a claim. All of its spec comes from the record, so an object that was lost is made again as it was. */
export function draftIpAddress(claim: Claim, { spec }: IpRecord, poolUid: string): NewObject {
  const { address, prefix, gateway } = spec;
  return {
    metadata: {
      namespace: claim.namespace,
      name: claim.name,
      labels: clusterLabel(claim),
      finalizers: [ADDRESS_FINALIZER],
      ownerReferences: [claimOwner(claim), poolOwner(claim.pool, poolUid)],
    },
    spec: {
      claimRef: { name: claim.name },
      poolRef: { apiGroup: POOLS.group, kind: POOLS.kind, name: claim.pool },
      address,
      prefix,
      ...(gateway === undefined ? {} : { gateway }),
    },
  };
}

/**
 * The metadata that an IPAddress made by another client lacks, or null. Its spec never changes, and the references of other owners
 * stay. Without the uid of the pool its reference is left as it is.
 */
export function missingMetadata(
  address: MachineAddress,
  claim: Claim,
  poolUid: string | null,
): Readonly<Record<string, unknown>> | null {
  const wanted = [claimOwner(claim), ...(poolUid === null ? [] : [poolOwner(claim.pool, poolUid)])];
  const others = address.owners.filter((it) => !wanted.some((own) => isSameOwner(it, own)));
  const hasOwners = wanted.every((own) => address.owners.some((it) => isEqualOwner(it, own)));
  const labels = clusterLabel(claim);
  const hasLabels = Object.entries(labels).every(([key, value]) => address.labels[key] === value);
  const isProtected = address.finalizers.includes(ADDRESS_FINALIZER);
  if (hasOwners && hasLabels && isProtected) return null;
  return {
    ...(hasOwners ? {} : { ownerReferences: [...others, ...wanted] }),
    ...(hasLabels ? {} : { labels }),
    ...(isProtected ? {} : { finalizers: [...address.finalizers, ADDRESS_FINALIZER] }),
  };
}

function claimOwner({ name, uid }: Claim): StoredOwner {
  return { apiVersion: apiVersionOf(CLAIMS), kind: CLAIMS.kind, name, uid, controller: true, blockOwnerDeletion: true };
}

function poolOwner(name: string, uid: string): StoredOwner {
  return { apiVersion: apiVersionOf(POOLS), kind: POOLS.kind, name, uid, controller: false, blockOwnerDeletion: true };
}

/** The same object, whatever the flags: its reference is replaced. A pool that was deleted and made again has a new uid. */
function isSameOwner(found: StoredOwner, own: StoredOwner): boolean {
  if (found['uid'] === own['uid']) return true;
  return isClaimReference(own)
    ? isClaimReference(found) && found['name'] === own['name']
    : found['kind'] === own['kind'] && found['apiVersion'] === own['apiVersion'] && found['name'] === own['name'];
}

/** The version of the group may be another one, and an absent flag is false. */
function isEqualOwner(found: StoredOwner, own: StoredOwner): boolean {
  const isKind = isClaimReference(own) ? isClaimReference(found) : found['kind'] === own['kind'];
  const isFlagged = ['controller', 'blockOwnerDeletion'].every((flag) => (found[flag] ?? false) === own[flag]);
  return isKind && isFlagged && found['uid'] === own['uid'] && found['name'] === own['name'];
}

function clusterLabel({ cluster }: Claim): Record<string, string> {
  return cluster !== null && LABEL_VALUE.test(cluster) ? { [CLUSTER_NAME_LABEL]: cluster } : {};
}
