import { decodeLabelSelector, isEmptySelector } from '#pkg/crd/decode-label-selector.ts';
import { CRON_JOBS, DAEMON_SETS, DEPLOYMENTS, JOBS, REPLICA_SETS } from '#pkg/kube/objects/core-resources.ts';
import { apiVersionOf, isMap, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { isOrdinalIn, type OrdinalRange, STATEFUL_SETS, wantedOrdinals } from '#pkg/kube/objects/sticky-owners.ts';
import { type LabelSelector, selects } from '#pkg/pool/label-selector.ts';
import type { Controller, Labels } from '#pkg/pool/request.ts';
import { ordinalOf } from '#pkg/record/ip-record.ts';

interface BuiltIn {
  readonly resource: Resource;
  /** The kind that stands between the application and its pods; null: it controls them itself. */
  readonly through: Resource | null;
}

const BUILT_IN: readonly BuiltIn[] = [
  { resource: DEPLOYMENTS, through: REPLICA_SETS },
  { resource: REPLICA_SETS, through: null },
  { resource: STATEFUL_SETS, through: null },
  { resource: DAEMON_SETS, through: null },
  { resource: JOBS, through: null },
  { resource: CRON_JOBS, through: JOBS },
];

/** Null: a kind that Kubernetes does not bring along. */
export function builtInKind({ apiVersion, kind }: Pick<Controller, 'apiVersion' | 'kind'>): BuiltIn | null {
  return BUILT_IN.find(({ resource }) => resource.kind === kind && apiVersionOf(resource) === apiVersion) ?? null;
}

/** What is kept of an application that was read: what it says about its pods. */
export interface SeenApplication {
  readonly uid: string;
  /** Null: none, or none that can be read. */
  readonly selector: LabelSelector | null;
  /** The ordinals that a StatefulSet wants; null for other kinds. */
  readonly ordinals: OrdinalRange | null;
}

export function toSeenApplication(resource: Resource, object: KubeObject): SeenApplication {
  return {
    uid: object.metadata.uid,
    selector: selectorOf(resource, object),
    ordinals: resource.kind === STATEFUL_SETS.kind ? wantedOrdinals(object) : null,
  };
}

export interface ClaimingPod {
  readonly name: string;
  readonly labels: Labels;
}

/** Why this application does not want such a pod; null: it does. */
export function whyApplicationRefuses(pod: ClaimingPod, claimed: Controller, seen: SeenApplication): string | null {
  const application = `${claimed.kind} ${claimed.namespace}/${claimed.name}`;
  if (seen.uid !== claimed.uid) return `${application} has UID ${seen.uid}, and the pod names ${claimed.uid}`;
  if (seen.selector === null) return `${application} does not say which pods it wants`;
  if (!selects(seen.selector, pod.labels)) return `${application} wants pods with other labels`;
  if (seen.ordinals === null) return null;
  const ordinal = ordinalOf(pod.name, claimed.name);
  return ordinal !== null && isOrdinalIn(ordinal, seen.ordinals) ? null : `${application} wants no pod ${pod.name}`;
}

/** A CronJob has no selector: its pods have the labels of its template. */
function selectorOf({ kind }: Resource, { spec }: KubeObject): LabelSelector | null {
  const selector =
    kind === CRON_JOBS.kind
      ? { matchLabels: within(spec, ['jobTemplate', 'spec', 'template', 'metadata', 'labels']) ?? {} }
      : within(spec, ['selector']);
  try {
    const decoded = decodeLabelSelector(selector, 'spec.selector');
    // Only a template without labels may select everything.
    return isEmptySelector(decoded) && kind !== CRON_JOBS.kind ? null : decoded;
  } catch {
    return null;
  }
}

function within(part: unknown, path: readonly string[]): unknown {
  return path.reduce((value, field) => (isMap(value) ? value[field] : undefined), part);
}
