import { isMap } from '#pkg/kube/objects/kube-object.ts';
import { ALLOCATION_FINALIZER, allocationLabels, configurationOwner } from '#pkg/vitistack/vitistack-names.ts';
import type { ObservedAllocation } from './observed-allocation.ts';

/**
 * Finalizer, labels and owner that an IPAllocation lacks, as one patch; null if it has them. Other owners and labels stay. No owner is
 * added while the NetworkConfiguration is being deleted: with `--cascade=orphan` the garbage collector has just removed it, and an owner
 * that is gone would end the IPAllocation under its machine.
 */
export function missingAllocationMetadata({
  allocation,
  configuration,
}: Pick<ObservedAllocation, 'allocation' | 'configuration'>): Readonly<Record<string, unknown>> | null {
  const { finalizers, networkNamespace, networkConfiguration } = allocation;
  const labels = allocationLabels(networkNamespace, networkConfiguration);
  const isProtected = finalizers.includes(ALLOCATION_FINALIZER);
  const hasLabels = Object.entries(labels).every(([key, value]) => allocation.labels[key] === value);
  const owners =
    configuration === null || configuration.isDeleting ? null : missingOwner(allocation, configuration.uid);
  if (isProtected && hasLabels && owners === null) return null;
  return {
    ...(isProtected ? {} : { finalizers: [...finalizers, ALLOCATION_FINALIZER] }),
    ...(hasLabels ? {} : { labels }),
    ...(owners === null ? {} : { ownerReferences: owners }),
  };
}

/** A NetworkConfiguration that was deleted and made again has a new uid: the reference to the one before it is replaced. */
function missingOwner({ owners, networkConfiguration }: ObservedAllocation['allocation'], uid: string) {
  if (owners.some((owner) => isMap(owner) && owner['uid'] === uid)) return null;
  const own = configurationOwner(networkConfiguration, uid);
  const isBefore = (owner: Readonly<Record<string, unknown>>) =>
    owner['kind'] === own.kind && owner['name'] === own.name;
  return [...owners.filter((owner) => !isBefore(owner)), own];
}
