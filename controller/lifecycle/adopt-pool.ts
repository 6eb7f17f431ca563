import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { isMap, type NewObject } from '#pkg/kube/objects/kube-object.ts';
import { AUTO_POOL_LABELS } from '#pkg/pool/auto-pool.ts';
import { toLabelValue } from '#pkg/record/record-metadata.ts';

/** The pool with the subnet as its controller, and the label that says so. */
export function ownedBySubnet<T extends NewObject>(pool: T, { name, uid }: Pick<SpiderSubnet, 'name' | 'uid'>): T {
  const { metadata } = pool;
  const owners: unknown[] = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  const reference = {
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderSubnet',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  return {
    ...pool,
    metadata: {
      ...metadata,
      ownerReferences: [...owners.filter((owner) => !isMap(owner) || owner['controller'] !== true), reference],
      labels: { ...metadata.labels, [AUTO_POOL_LABELS.subnet]: toLabelValue(name) },
    },
  };
}
