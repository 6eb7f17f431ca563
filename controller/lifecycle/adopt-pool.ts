import { isDeepStrictEqual } from 'node:util';
import { isPoolOfSubnet } from '#controller/project/plan-subnet-status.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { isMap, type KubeObject, type NewObject, type SeenObject } from '#pkg/kube/objects/kube-object.ts';
import { AUTO_POOL_LABELS } from '#pkg/pool/auto-pool.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { toLabelValue } from '#pkg/record/record-metadata.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A subnet, decoded and as it is stored. */
export type StoredSubnet = SpiderSubnet & { readonly object: KubeObject };

/** The pool with the subnet as its controller, and the label that says so. */
export function ownedBySubnet<T extends NewObject>(pool: T, subnet: Pick<SpiderSubnet, 'name' | 'uid'>): T {
  return { ...pool, metadata: { ...pool.metadata, ...ownerMarks(pool.metadata, subnet) } };
}

/** Owners and labels of a pool that the subnet controls; no other controller stays. */
export function ownerMarks(
  metadata: { readonly ownerReferences?: unknown; readonly labels?: unknown },
  { name, uid }: Pick<SpiderSubnet, 'name' | 'uid'>,
) {
  const reference = {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderSubnet',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const { ownerReferences, labels } = metadata;
  const owners: unknown[] = Array.isArray(ownerReferences) ? ownerReferences : [];
  return {
    ownerReferences: [...owners.filter((owner) => !isController(owner)), reference],
    labels: { ...(isMap(labels) ? labels : {}), [AUTO_POOL_LABELS.subnet]: toLabelValue(name) },
  };
}

/** Gateway and routes come from the subnet at this moment and never again; an empty list of routes is a list. */
export function withInherited(spec: Fields, subnet: Fields): Fields {
  const [gateway, routes] = [spec['gateway'] ?? subnet['gateway'], spec['routes'] ?? subnet['routes']];
  return { ...spec, ...(gateway === undefined ? {} : { gateway }), ...(routes === undefined ? {} : { routes }) };
}

/**
 * The pool under the subnet of its network, for a pool that admission did not see, or that is older than its subnet. Null if nothing
 * is missing, for a pool with a controller of another kind, and for a pool with addresses that the subnet does not have.
 */
export function planPoolAdoption(object: SeenObject, pool: Pool, subnets: readonly StoredSubnet[]): SeenObject | null {
  const { status: _, ...rest } = object;
  const spec = isMap(object['spec']) ? object['spec'] : {};
  const owner = pool.auto === null && !pool.isTerminating ? findOwner(object, pool, subnets) : null;
  if (owner === null) return null;
  const controller = controllerOf(object);
  const marks = ownerMarks(object.metadata, owner);
  if (controller?.['uid'] === owner.uid) {
    if (isDeepStrictEqual(object.metadata.labels, marks.labels)) return null;
    return { ...rest, metadata: { ...object.metadata, labels: marks.labels as Record<string, string> } };
  }
  const { gateway, ...lent } = isMap(owner.object['spec']) ? owner.object['spec'] : {};
  // Admission refuses a pool that would give out its own gateway.
  const isGivenOut = owner.gateway !== null && pool.addresses.contains(owner.gateway.value);
  const next = withInherited(spec, isGivenOut ? lent : { ...lent, gateway });
  return ownedBySubnet({ ...rest, metadata: object.metadata, spec: next }, owner);
}

/** The one that has it stays its owner, also where another subnet has the same network. */
function findOwner(object: SeenObject, pool: Pool, subnets: readonly StoredSubnet[]): StoredSubnet | null {
  const controller = controllerOf(object);
  if (controller !== null && controller['kind'] !== 'SpiderSubnet') return null;
  const able = subnets.filter(
    (subnet) =>
      !subnet.isTerminating && isPoolOfSubnet(subnet, pool) && pool.addresses.subtract(subnet.addresses).isEmpty,
  );
  return able.find(({ uid }) => uid === controller?.['uid']) ?? able[0] ?? null;
}

function controllerOf({ metadata: { ownerReferences } }: SeenObject): Fields | null {
  const owners: unknown[] = Array.isArray(ownerReferences) ? ownerReferences : [];
  return owners.filter(isMap).find(isController) ?? null;
}

function isController(owner: unknown): boolean {
  return isMap(owner) && owner['controller'] === true;
}
