import { formatAddress, tryParseAddress } from '#pkg/ip/address.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POD_MARKS, runtimeUid, trimPodMetadata } from '#pkg/kube/objects/pod-marks.ts';
import type { SharedValues } from './shared-values.ts';

interface ControllerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** What the controller reads of a pod. Everything else is dropped at once: memory must not grow with manifests. */
export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  /** The UID the runtime calls it by: for a mirror pod that of the static pod behind it. */
  readonly uid: string;
  /** That of the object itself. */
  readonly objectUid: string;
  readonly node: string;
  readonly phase: string;
  readonly isHostNetwork: boolean;
  /** `deletionTimestamp`, which already contains the grace period; null while the pod is not being deleted. */
  readonly deletesAtMs: number | null;
  readonly graceSeconds: number;
  readonly controller: ControllerReference | null;
  /** A VMI is migrating, or has migrated, to this pod. */
  readonly isMigrationTarget: boolean;
  readonly podIPs: readonly string[];
  /** Every container has a status, and each of them says that it ended. */
  readonly haveAllEnded: boolean;
  readonly isAnyRunning: boolean;
  /** When the last container ended, as the kubelet reports it. */
  readonly finishedAtMs: number | null;
}

/** Of a pod that asks for no other. */
export const USUAL_GRACE_SECONDS = 30;
const MOST_ADDRESSES = 8;
const STATUS_LISTS = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'];

/** Of a large list: only what `toPodFacts` reads. */
export function trimPod({ metadata, spec, status }: KubeObject): KubeObject {
  const { nodeName, hostNetwork, terminationGracePeriodSeconds } = asMap(spec);
  const { phase, podIPs, ...rest } = asMap(status);
  return {
    metadata: trimPodMetadata(metadata),
    spec: { nodeName, hostNetwork, terminationGracePeriodSeconds, containers: { length: countContainers(spec) } },
    status: {
      phase,
      podIPs,
      ...Object.fromEntries(
        STATUS_LISTS.map((list) => [list, asList(rest[list]).map((it) => ({ state: asMap(it)['state'] }))]),
      ),
    },
  };
}

export function toPodFacts({ metadata, spec, status }: KubeObject, shared: SharedValues): PodFacts {
  const { nodeName, hostNetwork, terminationGracePeriodSeconds: grace } = asMap(spec);
  const given = asMap(status);
  const statuses = STATUS_LISTS.flatMap((list) => asList(given[list])).map((it) => asMap(asMap(it)['state']));
  const ended = statuses.map((state) => state['terminated']).filter(isMap);
  const reported = asList(given['containerStatuses']).length;
  return {
    namespace: shared.text(metadata.namespace ?? ''),
    name: metadata.name,
    uid: runtimeUid(metadata),
    objectUid: metadata.uid,
    node: shared.text(asText(nodeName)),
    phase: shared.text(asText(given['phase'])),
    isHostNetwork: hostNetwork === true,
    deletesAtMs: toMs(metadata.deletionTimestamp),
    graceSeconds: typeof grace === 'number' && grace >= 0 ? grace : USUAL_GRACE_SECONDS,
    controller: readController(metadata.ownerReferences, shared),
    isMigrationTarget: metadata.annotations?.[POD_MARKS.migrationJob] !== undefined,
    podIPs: readAddresses(given['podIPs']),
    haveAllEnded: reported > 0 && reported >= countContainers(spec) && ended.length === statuses.length,
    isAnyRunning: statuses.some((state) => isMap(state['running'])),
    finishedAtMs: ended.reduce<number | null>((latest, { finishedAt }) => {
      const ms = toMs(finishedAt);
      return ms === null ? latest : Math.max(latest ?? ms, ms);
    }, null),
  };
}

export function isFinished({ phase }: PodFacts): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** The pod is not being deleted and has not finished: its sandbox exists, or will. */
export function isAlive(pod: PodFacts): boolean {
  return pod.deletesAtMs === null && !isFinished(pod);
}

function countContainers(spec: unknown): number {
  const { containers } = asMap(spec);
  const length = isMap(containers) ? containers['length'] : asList(containers).length;
  return typeof length === 'number' ? length : 0;
}

function readController(owners: unknown, shared: SharedValues): ControllerReference | null {
  const owner = asList(owners).find((it) => asMap(it)['controller'] === true);
  if (!isMap(owner)) return null;
  const { apiVersion, kind, name, uid } = owner;
  return shared.value({ apiVersion: asText(apiVersion), kind: asText(kind), name: asText(name), uid: asText(uid) });
}

function readAddresses(value: unknown): string[] {
  return asList(value)
    .slice(0, MOST_ADDRESSES)
    .map((item) => tryParseAddress(asText(asMap(item)['ip'])))
    .filter((address) => address !== null)
    .map(formatAddress);
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

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
