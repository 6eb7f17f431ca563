import { kubeCalls, type Pod } from '#test/nodes/kube-calls.ts';
import { until } from '#test/nodes/until.ts';
import { pod } from '#test/nodes/workloads.ts';
import type { ServerPlace } from '#test/support/api-server.ts';
import { type WatchedPod, watchPods } from './nodes-watch.ts';
import { type PodMarks, type PodTimes, toPodTimes } from './pod-phases.ts';

/** What a subject adds to its pods. */
export interface BurstWish {
  readonly runtimeClass?: string;
  readonly pool?: string;
}

export interface Burst {
  readonly times: readonly PodTimes[];
  /** Sandboxes that kubelet had to make again. */
  readonly failedSandboxes: number;
}

interface PodEvent {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly involvedObject: { readonly name?: string };
  readonly count?: number;
}

const NAMESPACE = 'default';
const EVENTS = `/api/v1/namespaces/${NAMESPACE}/events?fieldSelector=reason%3DFailedCreatePodSandBox`;
let bursts = 0;

/** Creates pods at once, spread evenly over the nodes, and deletes them when all run. */
export async function measureBurst(
  place: ServerPlace,
  nodes: readonly string[],
  count: number,
  wish: BurstWish,
): Promise<Burst> {
  const kube = kubeCalls(place);
  const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
  bursts += 1;
  const names = Array.from({ length: count }, (_, index) => `burst-${bursts}-${index}`);
  const seen = new Map<string, PodMarks>();
  const note = (watched: WatchedPod) => {
    const { name } = watched.metadata;
    const marks = seen.get(name);
    if (marks !== undefined) seen.set(name, { ...marksOf(watched, performance.now()), ...marks });
  };
  using _ = await watchPods(place, NAMESPACE, note);
  await Promise.all(
    names.map((name, index) => {
      seen.set(name, { createdAtMs: performance.now() });
      return kube.create(path, bodyOf(name, nodes[index % nodes.length] ?? '', wish));
    }),
  );
  await until(`${count} pods run`, async () => [...seen.values()].every((it) => it.runningAtMs !== undefined));
  await Promise.all(names.map((name) => kube.remove(`${path}/${name}`)));
  await until('all pods are gone', async () => (await kube.list<Pod>(path)).length === 0);
  const failures = await kube.list<PodEvent>(EVENTS);
  return {
    times: [...seen.values()].map(toPodTimes),
    failedSandboxes: failures
      .filter(({ involvedObject }) => names.includes(involvedObject.name ?? ''))
      .reduce((sum, event) => sum + (event.count ?? 1), 0),
  };
}

/** The phases that the pod has reached at this moment. */
function marksOf({ spec, status }: WatchedPod, nowMs: number): Partial<PodMarks> {
  return {
    ...(spec.nodeName === undefined ? {} : { scheduledAtMs: nowMs }),
    ...(isTrue(status, 'PodReadyToStartContainers') ? { networkAtMs: nowMs } : {}),
    ...(status.phase === 'Running' ? { runningAtMs: nowMs } : {}),
  };
}

function bodyOf(name: string, node: string, { runtimeClass, pool }: BurstWish): object {
  const annotations = pool === undefined ? {} : { 'ipam.spidernet.io/ippool': JSON.stringify({ ipv4: [pool] }) };
  return pod(name, {
    annotations,
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node },
      // With 0 the object is gone before its sandbox, and the next burst would begin while nodes still tear down the last one.
      terminationGracePeriodSeconds: 1,
      ...(runtimeClass === undefined ? {} : { runtimeClassName: runtimeClass }),
    },
  });
}

const isTrue = ({ conditions = [] }: WatchedPod['status'], type: string) =>
  conditions.some((condition) => condition.type === type && condition.status === 'True');
