import { type Address, tryParseAddress } from '#pkg/ip/address.ts';
import { CLAIMS } from '#pkg/kube/objects/capi-resources.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { readOwners, type StoredOwner } from '#pkg/kube/objects/stored-owner.ts';
import { readName, readPoolRef } from './read-claim.ts';

/** An IPAddress of Cluster API, of any provider. */
export interface MachineAddress {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isTerminating: boolean;
  readonly finalizers: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly owners: readonly StoredOwner[];
  /** The uid in the owner reference to an IPAddressClaim that is marked as the controller; null if there is none. */
  readonly claimUid: string | null;
  /** `spec.claimRef.name`. */
  readonly claim: string | null;
  /** The name of our pool; null for the pool of another provider. */
  readonly pool: string | null;
  /** Null if it is no address. */
  readonly address: Address | null;
}

const LONGEST_ADDRESS = 39;

/** Null for an object without a namespace: that kind has one. */
export function readIpAddress({ metadata, spec }: KubeObject): MachineAddress | null {
  const { namespace, name, uid, resourceVersion } = metadata;
  if (namespace === undefined) return null;
  const { claimRef, poolRef, address } = isMap(spec) ? spec : {};
  const owners = readOwners(metadata.ownerReferences);
  const isText = typeof address === 'string' && address.length <= LONGEST_ADDRESS;
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    isTerminating: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers ?? [],
    labels: metadata.labels ?? {},
    owners,
    claimUid: readClaimUid(owners),
    claim: isMap(claimRef) ? readName(claimRef['name']) : null,
    pool: readPoolRef(poolRef),
    address: isText ? tryParseAddress(address) : null,
  };
}

function readClaimUid(owners: readonly StoredOwner[]): string | null {
  const owner = owners.find((it) => it['controller'] === true && isClaimReference(it));
  return owner === undefined ? null : readName(owner['uid']);
}

/** Compares any version of the group: the API server converts, and leaves references as they are. */
export function isClaimReference({ apiVersion, kind }: StoredOwner): boolean {
  return kind === CLAIMS.kind && typeof apiVersion === 'string' && apiVersion.startsWith(`${CLAIMS.group}/`);
}
