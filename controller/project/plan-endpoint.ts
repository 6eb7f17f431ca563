import type { KubeObject, NewObject } from '#pkg/kube/objects/kube-object.ts';
import { FINALIZER } from '#pkg/kube/objects/spider-resources.ts';
import { type IpRecord, isStickyHolder } from '#pkg/record/ip-record.ts';
import { isHeld } from '#pkg/record/record-value.ts';
import { endpointStatus, shownRecords } from './endpoint-status.ts';
import type { PodIdentity } from './pods-view.ts';
import { digestOf, PROJECTED, type SeenEndpoint } from './seen-endpoint.ts';

export interface EndpointFacts {
  readonly namespace: string;
  readonly name: string;
  /** All records of the holder, of any state. */
  readonly records: readonly IpRecord[];
  /** The pod that has the name now. */
  readonly pod: PodIdentity | null;
  readonly existing: SeenEndpoint | null;
}

export interface EndpointRules {
  /** Pods of StatefulSets keep their addresses. */
  readonly enableStatefulSet: boolean;
  /** Whether endpoints without records are deleted too, if the controller did not make them. */
  readonly enableCleanOutdatedEndpoint: boolean;
}

/** The endpoint gets the values of the fields that are there; everything else stays. */
export interface EndpointChange {
  readonly isProjected?: true;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly object[];
  readonly status?: object;
}

/** `remove` deletes the endpoint after the step before it. */
export type EndpointStep =
  | { readonly do: 'create'; readonly object: NewObject }
  | { readonly do: 'update'; readonly change: EndpointChange }
  | { readonly do: 'remove' };

/**
 * The steps that make the endpoint of one holder agree with its records; none if it does. An endpoint has no finalizer and no
 * owner, so that it costs one create and one delete: no other controller deletes it while its records are there. Those of Spiderpool have
 * both, and keep them until they go.
 */
export function planEndpoint(facts: EndpointFacts, rules: EndpointRules): EndpointStep[] {
  const { existing, pod } = facts;
  const held = facts.records.filter(isHeld);
  if (held.length === 0) return existing === null ? [] : planRemoval(existing, rules);
  const isStatic = held.some((record) => isOfStaticWorkload(record, rules));
  const relevant = shownRecords(held, pod?.runtimeUid ?? null);
  const shown = isStatic ? relevant : ofOnePod(relevant);
  const isOfLivingPod = pod !== null && shown.some(({ spec }) => spec.holder.uid === pod.runtimeUid);
  if (existing?.isTerminating) {
    // Without the finalizer it goes, and is created again at once. If the pod is gone, it stays as long as the records do.
    return isStatic || isOfLivingPod ? strip(existing) : [];
  }
  const status = endpointStatus(shown);
  if (existing === null) return isStatic || isOfLivingPod ? [create(facts, status)] : [];
  const isOwnedByAnother = isOfLivingPod && existing.owners.some((uid) => uid !== pod.uid);
  return planUpdate(existing, status, existing.owners.length > 0 && (isStatic || isOwnedByAnother));
}

function planRemoval(existing: SeenEndpoint, { enableCleanOutdatedEndpoint }: EndpointRules): EndpointStep[] {
  // Nothing else takes the finalizer of Spiderpool off, and the namespace could not end.
  if (existing.isTerminating) return strip(existing);
  return existing.isProjected || enableCleanOutdatedEndpoint ? [...strip(existing), { do: 'remove' }] : [];
}

/** `losesOwners`: Kubernetes would delete the endpoint with its owner. */
function planUpdate(existing: SeenEndpoint, status: object, losesOwners: boolean): EndpointStep[] {
  const change: EndpointChange = {
    ...(existing.isProjected ? {} : { isProjected: true }),
    ...(losesOwners ? { ownerReferences: [] } : {}),
    ...(existing.digest === digestOf(status) ? {} : { status }),
  };
  return Object.keys(change).length === 0 ? [] : [{ do: 'update', change }];
}

function create({ namespace, name }: EndpointFacts, status: object): EndpointStep {
  return { do: 'create', object: { metadata: { namespace, name, annotations: { [PROJECTED]: 'true' } }, status } };
}

function strip({ finalizers }: SeenEndpoint): EndpointStep[] {
  if (!finalizers.includes(FINALIZER)) return [];
  return [{ do: 'update', change: { finalizers: finalizers.filter((finalizer) => finalizer !== FINALIZER) } }];
}

/** The whole object that an update writes. */
export function applyChange(object: KubeObject, change: EndpointChange): KubeObject {
  const { isProjected, status, ...fields } = change;
  const annotations = isProjected ? { annotations: { ...object.metadata.annotations, [PROJECTED]: 'true' } } : {};
  return {
    ...object,
    metadata: { ...object.metadata, ...fields, ...annotations },
    ...(status === undefined ? {} : { status }),
  };
}

function isOfStaticWorkload({ spec: { holder } }: IpRecord, { enableStatefulSet }: EndpointRules): boolean {
  return isStickyHolder(holder, { enableStatefulSet, enableKubevirtStaticIP: true });
}

/** Earlier pods may have had the same name. If the current pod has no record, the records of the last such pod are shown. */
function ofOnePod(relevant: readonly IpRecord[]): readonly IpRecord[] {
  return relevant.filter(({ spec }) => spec.holder.uid === relevant[0]?.spec.holder.uid);
}
