import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';

/** More logs than these are of no use, and a cluster may have thousands of agents. */
export const MOST_PODS = 20;

export interface ChosenPod {
  readonly name: string;
  readonly containers: readonly string[];
  /** These containers have restarted: the log before the restart is wanted too. */
  readonly restarted: readonly string[];
  readonly metricsPort: number | null;
}

/** Sorts pods by how much their logs and metrics tell: controllers, then agents that are not ready or have restarted, then the others. */
export function choosePods(pods: readonly KubeObject[]): ChosenPod[] {
  const ranked = pods.map((pod) => ({ pod, rank: rankOf(pod) }));
  ranked.sort((a, b) => a.rank - b.rank || (a.pod.metadata.name < b.pod.metadata.name ? -1 : 1));
  return ranked.slice(0, MOST_PODS).map(({ pod }) => ({
    name: pod.metadata.name,
    containers: [...namesIn(pod, 'initContainers'), ...namesIn(pod, 'containers')],
    restarted: statuses(pod).flatMap(({ name, restarts }) => (restarts > 0 ? [name] : [])),
    metricsPort: metricsPortOf(pod),
  }));
}

function rankOf(pod: KubeObject): number {
  if (isController(pod)) return 0;
  const all = statuses(pod);
  if (all.length === 0 || all.some(({ isReady }) => !isReady)) return 1;
  return all.some(({ restarts }) => restarts > 0) ? 2 : 3;
}

function isController({ metadata }: KubeObject): boolean {
  return metadata.labels?.['app.kubernetes.io/component'] === 'controller';
}

/** A setting may have moved it, so it is found by its name. */
function metricsPortOf(pod: KubeObject): number | null {
  const ports = containersIn(pod, 'containers').flatMap(({ ports: declared }) => listOf(declared));
  const port = Number(ports.find(({ name }) => name === 'metrics')?.['containerPort']);
  return Number.isInteger(port) ? port : null;
}

function namesIn(pod: KubeObject, field: 'containers' | 'initContainers'): string[] {
  return containersIn(pod, field).flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
}

function containersIn(pod: KubeObject, field: 'containers' | 'initContainers'): Readonly<Record<string, unknown>>[] {
  const spec = isMap(pod['spec']) ? pod['spec'] : {};
  return listOf(spec[field]);
}

function statuses(pod: KubeObject): { name: string; isReady: boolean; restarts: number }[] {
  const status = isMap(pod['status']) ? pod['status'] : {};
  return listOf(status['containerStatuses']).map(({ name, ready, restartCount }) => ({
    name: String(name),
    isReady: ready === true,
    restarts: Number(restartCount) || 0,
  }));
}

function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isMap) : [];
}
