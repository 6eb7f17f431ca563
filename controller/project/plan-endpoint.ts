import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, NewObject, SeenObject } from '#pkg/kube/objects/kube-object.ts';
import { FINALIZER } from '#pkg/kube/objects/spider-resources.ts';
import { type IpRecord, isStickyHolder } from '#pkg/record/ip-record.ts';
import { isHeld } from '#pkg/record/record-value.ts';
import { shownRecords } from './endpoint-records.ts';
import { endpointStatus } from './endpoint-status.ts';
import type { PodIdentity } from './pods-view.ts';

/** Marks endpoints that the controller made and deletes when their records are gone. Spiderpool's endpoints do not have it. */
const PROJECTED = 'ipledger.io/projected';

export interface EndpointFacts {
  readonly namespace: string;
  readonly name: string;
  /** All records of the holder, of any state. */
  readonly records: readonly IpRecord[];
  /** The pod that has the name now. */
  readonly pod: PodIdentity | null;
  readonly existing: KubeObject | null;
}

export interface EndpointRules {
  /** Pods of StatefulSets keep their addresses. */
  readonly enableStatefulSet: boolean;
  /** Also delete endpoints without records that the controller did not make. */
  readonly enableCleanOutdatedEndpoint: boolean;
}

/** `remove` deletes the endpoint after the step before it. */
export type EndpointStep =
  | { readonly do: 'create'; readonly object: NewObject }
  | { readonly do: 'update'; readonly object: SeenObject }
  | { readonly do: 'remove' };

/** The steps that make the endpoint of one holder agree with its records; none if it does. */
export function planEndpoint(facts: EndpointFacts, rules: EndpointRules): EndpointStep[] {
  const { existing, pod } = facts;
  const held = facts.records.filter(isHeld);
  if (held.length === 0) return existing === null ? [] : planRemoval(existing, rules);
  const isStatic = held.some((record) => isOfStaticWorkload(record, rules));
  const relevant = shownRecords(held, pod?.runtimeUid ?? null);
  const shown = isStatic ? relevant : ofOnePod(relevant);
  const isOfLivingPod = pod !== null && shown.some(({ spec }) => spec.holder.uid === pod.runtimeUid);
  if (existing?.metadata.deletionTimestamp !== undefined) {
    // Without the finalizer it goes, and is created again at once. If the pod is gone, it stays as long as the records do.
    return isStatic || isOfLivingPod ? strip(existing) : [];
  }
  const status = endpointStatus(shown);
  const owners = ownersOf(facts, isStatic, isOfLivingPod);
  if (existing !== null) return planUpdate(existing, status, owners);
  return isStatic || isOfLivingPod ? [create(facts, status, owners)] : [];
}

function planRemoval(existing: KubeObject, { enableCleanOutdatedEndpoint }: EndpointRules): EndpointStep[] {
  const { annotations = {}, deletionTimestamp } = existing.metadata;
  if (annotations[PROJECTED] !== 'true' && !enableCleanOutdatedEndpoint) return [];
  return deletionTimestamp === undefined ? [...strip(existing), { do: 'remove' }] : strip(existing);
}

function planUpdate(existing: KubeObject, status: object, owners: readonly object[] | null): EndpointStep[] {
  const { metadata } = existing;
  const finalizers = metadata.finalizers ?? [];
  const wanted = {
    ...metadata,
    annotations: { ...metadata.annotations, [PROJECTED]: 'true' },
    finalizers: finalizers.includes(FINALIZER) ? finalizers : [...finalizers, FINALIZER],
    ...(owners === null ? {} : { ownerReferences: owners }),
  };
  const found = { ...metadata, ...(owners === null ? {} : { ownerReferences: metadata.ownerReferences ?? [] }) };
  if (isDeepStrictEqual(existing['status'], status) && isDeepStrictEqual(found, wanted)) return [];
  return [{ do: 'update', object: { ...existing, metadata: wanted, status } }];
}

function create({ namespace, name }: EndpointFacts, status: object, owners: readonly object[] | null): EndpointStep {
  const ownerReferences = owners === null || owners.length === 0 ? {} : { ownerReferences: owners };
  const metadata = { namespace, name, annotations: { [PROJECTED]: 'true' }, finalizers: [FINALIZER] };
  return { do: 'create', object: { metadata: { ...metadata, ...ownerReferences }, status } };
}

function strip(existing: KubeObject): EndpointStep[] {
  const { finalizers = [] } = existing.metadata;
  if (!finalizers.includes(FINALIZER)) return [];
  const rest = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  return [{ do: 'update', object: { ...existing, metadata: { ...existing.metadata, finalizers: rest } } }];
}

/** Null leaves the owners as they are: Kubernetes would delete the endpoint if its owner is gone. */
function ownersOf({ name, pod }: EndpointFacts, isStatic: boolean, isOfLivingPod: boolean): readonly object[] | null {
  if (isStatic) return [];
  return pod !== null && isOfLivingPod ? [{ apiVersion: 'v1', kind: 'Pod', name, uid: pod.uid }] : null;
}

function isOfStaticWorkload({ spec: { holder } }: IpRecord, { enableStatefulSet }: EndpointRules): boolean {
  return isStickyHolder(holder, { enableStatefulSet, enableKubevirtStaticIP: true });
}

/** Earlier pods may have had the same name. If the current pod has no record, the records of the last such pod are shown. */
function ofOnePod(relevant: readonly IpRecord[]): readonly IpRecord[] {
  return relevant.filter(({ spec }) => spec.holder.uid === relevant[0]?.spec.holder.uid);
}
