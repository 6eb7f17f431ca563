import { type DecodedPod, decodePod } from '#pkg/crd/decode-pod.ts';
import { POD_MARKS } from '#pkg/crd/pod-marks.ts';
import { pickFields, trimPodMetadata } from '#pkg/crd/trim-pod.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Labels } from '#pkg/pool/request.ts';
import { pickSubnetAnnotations } from '#pkg/pool/subnet-wish.ts';
import { AGENT_LABELS, hasAgentLabels } from './agent-pods.ts';
import type { SharedValues } from './shared-values.ts';

/** What the controller keeps of a pod. Everything else is dropped at once: memory must not grow with manifests. */
export interface PodFacts extends Omit<DecodedPod, 'reason'> {
  readonly graceSeconds: number;
  /** A VMI is migrating, or has migrated, to this pod. */
  readonly isMigrationTarget: boolean;
  /** Every container has a status, and each of them says that it ended. */
  readonly haveAllEnded: boolean;
  readonly isAnyRunning: boolean;
  /** When the last container ended, as the kubelet reports it. */
  readonly finishedAtMs: number | null;
  /** Its annotations about subnets; null for almost all pods. */
  readonly subnetWish: Labels | null;
}

/** The default of Kubernetes. */
export const USUAL_GRACE_SECONDS = 30;
const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

/** Keeps of a pod in a large list only what `toPodFacts` reads, and whether an agent is Ready. */
export function trimPod(object: KubeObject): KubeObject {
  const { metadata, spec, status } = object;
  const isAgent = hasAgentLabels(object);
  return {
    metadata: { ...trimPodMetadata(metadata), ...(isAgent ? { labels: AGENT_LABELS } : {}) },
    spec: withContainerCount(
      pickFields(spec, ['nodeName', 'hostNetwork', 'terminationGracePeriodSeconds', 'containers']),
    ),
    status: withStatesOnly(
      pickFields(status, ['phase', 'podIPs', ...STATUS_LISTS, ...(isAgent ? ['conditions'] : [])]),
    ),
  };
}

/** Throws like `decodePod`. Container statuses that make no sense count as containers that have not ended. */
export function toPodFacts(object: KubeObject, shared: SharedValues): PodFacts {
  const pod = decodePod(object);
  const { metadata, spec, status } = object;
  const { terminationGracePeriodSeconds: grace } = asMap(spec);
  const given = asMap(status);
  const statuses = STATUS_LISTS.flatMap((list) => asList(given[list])).map((it) => asMap(asMap(it)['state']));
  const ended = statuses.map((state) => state['terminated']).filter(isMap);
  const wish = pickSubnetAnnotations(metadata.annotations ?? {});
  const reported = asList(given['containerStatuses']).length;
  return {
    namespace: shared.text(pod.namespace),
    name: pod.name,
    uid: pod.uid,
    objectUid: pod.objectUid,
    node: shared.text(pod.node),
    phase: shared.text(pod.phase),
    isHostNetwork: pod.isHostNetwork,
    deletesAtMs: pod.deletesAtMs,
    graceSeconds: typeof grace === 'number' && grace >= 0 ? grace : USUAL_GRACE_SECONDS,
    controller: pod.controller === null ? null : shared.value(pod.controller),
    isMigrationTarget: metadata.annotations?.[POD_MARKS.migrationJob] !== undefined,
    podIPs: pod.podIPs,
    haveAllEnded: reported > 0 && reported >= countContainers(spec) && ended.length === statuses.length,
    isAnyRunning: statuses.some((state) => isMap(state['running'])),
    subnetWish: wish === null ? null : shared.value(wish),
    finishedAtMs: ended.reduce<number | null>((latest, { finishedAt }) => {
      const ms = toMs(finishedAt);
      return ms === null ? latest : Math.max(latest ?? ms, ms);
    }, null),
  };
}

function withContainerCount(spec: unknown): unknown {
  return isMap(spec) ? { ...spec, containers: { length: countContainers(spec) } } : spec;
}

function withStatesOnly(status: unknown): unknown {
  if (!isMap(status)) return status;
  const trimmed = STATUS_LISTS.map((list) => [list, asList(status[list]).map((it) => ({ state: asMap(it)['state'] }))]);
  return { ...status, ...Object.fromEntries(trimmed) };
}

function countContainers(spec: unknown): number {
  const { containers } = asMap(spec);
  const length = isMap(containers) ? containers['length'] : asList(containers).length;
  return typeof length === 'number' ? length : 0;
}

function toMs(value: unknown): number | null {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) ? ms : null;
}

function asMap(value: unknown): Readonly<Record<string, unknown>> {
  return isMap(value) ? value : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
