import { CLUSTER_NAME_LABEL, MOVE_HIERARCHY_LABEL, MOVE_LABEL } from '#pkg/capi/contract-names.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { SUBNETS } from '#pkg/kube/objects/spider-resources.ts';

/**
 * Whether `clusterctl move` has to take the pool along, and does not know it yet. It leaves an IPAddress behind, without a word, if one
 * of its owners is left behind. Pools of pods alone stay where they are: their addresses are in use here.
 */
export function lacksMoveMark({ metadata }: KubeObject, hasAddresses: boolean): boolean {
  const { labels = {}, deletionTimestamp } = metadata;
  const isWanted = hasAddresses || Object.hasOwn(labels, CLUSTER_NAME_LABEL);
  return isWanted && deletionTimestamp === undefined && !Object.hasOwn(labels, MOVE_HIERARCHY_LABEL);
}

/** The subnets that own a pool with the mark: without them it would be left behind. Only they themselves are taken, not their pools. */
export function ownersToMove({ metadata }: KubeObject): readonly string[] {
  const { labels = {}, ownerReferences } = metadata;
  if (!Object.hasOwn(labels, MOVE_HIERARCHY_LABEL) || !Array.isArray(ownerReferences)) return [];
  const subnets = ownerReferences.filter(isMap).filter(({ kind }) => kind === SUBNETS.kind);
  return subnets.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

export function lacksOwnMoveMark({ metadata: { labels = {}, deletionTimestamp } }: KubeObject): boolean {
  const isMarked = Object.hasOwn(labels, MOVE_LABEL) || Object.hasOwn(labels, MOVE_HIERARCHY_LABEL);
  return deletionTimestamp === undefined && !isMarked;
}
