import { kubeCalls, type Pod } from '#test/nodes/kube-calls.ts';
import { until } from '#test/nodes/until.ts';
import { pod } from '#test/nodes/workloads.ts';
import type { ServerPlace } from '#test/support/api-server.ts';
import { type WatchedPod, watchPods } from './nodes-watch.ts';

export interface PodTimes {
  /** From the request that creates it. */
  readonly runningMs: number;
  /** From the moment when it has a node until its network is there. */
  readonly sandboxMs: number;
}

/** What a subject adds to its pods. */
export interface BurstWish {
  readonly runtimeClass?: string;
  readonly pool?: string;
}

const NAMESPACE = 'default';
let bursts = 0;

/** Creates pods at once, spread evenly over the nodes, and deletes them when all run. */
export async function measureBurst(place: ServerPlace, nodes: readonly string[], count: number, wish: BurstWish) {
  const kube = kubeCalls(place);
  const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
  bursts += 1;
  const names = Array.from({ length: count }, (_, index) => `burst-${bursts}-${index}`);
  const seen = new Map<string, { created: number; scheduled?: number; sandbox?: number; running?: number }>();
  const note = ({ metadata, spec, status }: WatchedPod) => {
    const times = seen.get(metadata.name);
    if (times === undefined) return;
    const now = performance.now();
    if (spec.nodeName !== undefined) times.scheduled ??= now;
    if (isTrue(status, 'PodReadyToStartContainers')) times.sandbox ??= now;
    if (status.phase === 'Running') times.running ??= now;
  };
  using _ = await watchPods(place, NAMESPACE, note);
  await Promise.all(
    names.map((name, index) => {
      seen.set(name, { created: performance.now() });
      return kube.create(path, bodyOf(name, nodes[index % nodes.length] ?? '', wish));
    }),
  );
  await until(`${count} pods run`, async () => [...seen.values()].every(({ running }) => running !== undefined));
  await Promise.all(names.map((name) => kube.remove(`${path}/${name}`)));
  await until('all pods are gone', async () => (await kube.list<Pod>(path)).length === 0);
  return [...seen.values()].map(
    ({ created, scheduled = 0, sandbox = 0, running = 0 }): PodTimes => ({
      runningMs: running - created,
      sandboxMs: sandbox - scheduled,
    }),
  );
}

function bodyOf(name: string, node: string, { runtimeClass, pool }: BurstWish): object {
  const annotations = pool === undefined ? {} : { 'ipam.spidernet.io/ippool': JSON.stringify({ ipv4: [pool] }) };
  return pod(name, {
    annotations,
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node },
      terminationGracePeriodSeconds: 0,
      ...(runtimeClass === undefined ? {} : { runtimeClassName: runtimeClass }),
    },
  });
}

const isTrue = ({ conditions = [] }: WatchedPod['status'], type: string) =>
  conditions.some((condition) => condition.type === type && condition.status === 'True');
