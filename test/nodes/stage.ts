import { onTestFailed } from 'vitest';
import type { ReachedCluster } from '#test/real-cluster/cluster-place.ts';
import { type KubeCalls, kubeCalls, type Pod, type Record } from './kube-calls.ts';
import { observeFaults } from './observe.ts';
import { sharedCluster } from './shared-cluster.ts';
import { until } from './until.ts';

/** A namespace with a pool of its own. At its end everything in it is deleted, and no address may be left. */
export interface NodeStage extends AsyncDisposable {
  readonly cluster: ReachedCluster;
  readonly kube: KubeCalls;
  readonly namespace: string;
  /** The path of a resource in the namespace, or of one object of it. */
  path(resource: 'pods' | 'deployments' | 'statefulsets' | 'jobs' | 'events', name?: string): string;
  pods(): Promise<readonly Pod[]>;
  records(): Promise<readonly Record[]>;
  /** The pods that are Running and not being deleted, once there are so many of them and no others. */
  running(count: number): Promise<readonly Pod[]>;
  /** Returns when pods, records and network namespaces agree. */
  settle(): Promise<void>;
  createPool(name: string, spec: object, annotations?: object): Promise<void>;
  /** Waits for an Event with this reason, and returns its message. */
  event(reason: string): Promise<string>;
  /** The only record of the address. */
  record(address: string): Promise<Record>;
}

const POOLS = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';
const GROUPS = {
  pods: 'api/v1',
  events: 'api/v1',
  deployments: 'apis/apps/v1',
  statefulsets: 'apis/apps/v1',
  jobs: 'apis/batch/v1',
};

interface StageWish {
  /** The one that all files share, unless said. */
  readonly cluster?: ReachedCluster;
  readonly gateway?: string;
  readonly annotations?: object;
}

export async function openStage(namespace: string, ips: readonly string[], wish: StageWish = {}): Promise<NodeStage> {
  const cluster = wish.cluster ?? sharedCluster();
  const kube = kubeCalls(cluster.server);
  const pools: string[] = [];
  const path: NodeStage['path'] = (resource, name) =>
    `/${GROUPS[resource]}/namespaces/${namespace}/${resource}${name === undefined ? '' : `/${name}`}`;
  const pods = () => kube.list<Pod>(path('pods'));
  const records = async () => (await kube.list<Record>(RECORDS)).filter(({ spec }) => pools.includes(spec.pool.name));

  const createPool = async (name: string, spec: object, annotations: object = {}) => {
    pools.push(name);
    const body = {
      apiVersion: 'spiderpool.spidernet.io/v2beta1',
      kind: 'SpiderIPPool',
      metadata: { name, annotations },
    };
    await kube.create(POOLS, { ...body, spec: { namespaceName: [namespace], default: true, ...spec } });
  };
  const settle = async () => {
    let faults: string[] = [];
    await until('pods, records and network namespaces agree', async () => {
      faults = await observeFaults(cluster, kube);
      return faults.length === 0;
    }).catch((cause) => {
      throw new Error(faults.join('\n'), { cause });
    });
  };
  await kube.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await until(`the service account of ${namespace}`, () =>
    kube.read(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
  );
  await createPool(namespace, { subnet: '10.88.0.0/16', ips, gateway: wish.gateway ?? '10.88.0.1' }, wish.annotations);
  onTestFailed(async () => {
    process.stderr.write(`${await describe(kube, path('events'), await pods(), await records())}\n`);
  });
  return {
    cluster,
    kube,
    namespace,
    path,
    pods,
    records,
    running: (count) =>
      until(`${count} pods of ${namespace} run`, async () => {
        const all = await pods();
        return all.length === count && all.every(isRunning) ? all : null;
      }),
    settle,
    createPool,
    event: (reason) =>
      until(`an Event ${reason} in ${namespace}`, async () => {
        const events = await kube.list<KubeEvent>(path('events'));
        return events.find((event) => event.reason === reason)?.message;
      }),
    record: (address) => kube.read<Record>(`${RECORDS}/${address}`),
    [Symbol.asyncDispose]: async () => {
      await kube.remove(`/api/v1/namespaces/${namespace}`);
      await until(`the namespace ${namespace} is gone`, async () => {
        const namespaces = await kube.list('/api/v1/namespaces');
        return !namespaces.some(({ metadata }) => metadata.name === namespace);
      });
      await until(`no address of ${namespace} is left`, async () => (await records()).length === 0);
      for (const pool of pools) await kube.remove(`${POOLS}/${pool}`);
      await settle();
    },
  };
}

const isRunning = ({ metadata, status }: Pod) =>
  metadata.deletionTimestamp === undefined &&
  status.phase === 'Running' &&
  status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;

interface KubeEvent {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly reason: string;
  readonly message?: string;
}

async function describe(
  kube: KubeCalls,
  events: string,
  pods: readonly Pod[],
  records: readonly Record[],
): Promise<string> {
  const lines = [
    ...pods.map(({ metadata, spec, status }) => `${metadata.name} ${spec.nodeName} ${status.phase} ${status.podIP}`),
    ...records.map(
      ({ spec }) => `${spec.address} ${spec.state} ${spec.holder.name} ${spec.holder.node} ${spec.holder.netns}`,
    ),
    ...(await kube.list<KubeEvent>(events)).map(
      ({ metadata, reason, message }) => `${metadata.name} ${reason}: ${message}`,
    ),
  ];
  return lines.join('\n');
}
