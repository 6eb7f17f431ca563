import { expect, test } from 'vitest';
import { VERSION } from '#pkg/text/version.ts';
import { kubectl } from '#test/support/manifests.ts';
import { runningImages, tagImage } from './daemon-images.ts';
import type { KubeCalls, Pod } from './kube-calls.ts';
import { type NodeStage, openStage } from './stage.ts';
import { until } from './until.ts';
import { deployment } from './workloads.ts';

const PODS = '/api/v1/namespaces/ipledger/pods';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/ipledger/leases/ipledger-controller';
const NAMESPACE = '--namespace=ipledger';

interface Trouble {
  readonly name: string;
  /** Resolves while the pods still start, with what is to be seen when all of them run. */
  readonly make: (stage: NodeStage) => Promise<() => Promise<void>>;
}

const nothingMore = async () => {};

/** What goes wrong while 50 pods start. */
const TROUBLES: readonly Trouble[] = [
  {
    name: 'one agent is killed and the pod of another is deleted',
    make: async (stage) => {
      await killAgent(stage, 'n1');
      await deleteAgent(stage, 'n2');
      return nothingMore;
    },
  },
  {
    name: 'the API server is restarted and the leader of the controllers is deleted',
    make: async (stage) => {
      await stage.cluster.act({ do: 'restart-api-server' });
      const old = await leaderOf(stage);
      await stage.kube.remove(`${PODS}/${old}`);
      return async () => {
        await until('another controller leads', async () => !['', old].includes(await leaderOf(stage)));
      };
    },
  },
  {
    name: 'containerd is restarted on one node and kubelet on another',
    make: async ({ cluster }) => {
      await Promise.all([
        cluster.act({ do: 'restart', node: 'n1', daemon: 'containerd' }),
        cluster.act({ do: 'restart', node: 'n2', daemon: 'kubelet' }),
      ]);
      return nothingMore;
    },
  },
  {
    name: 'the agents are upgraded to another image',
    make: async ({ cluster, kube }) => {
      await tagImage(cluster, VERSION, 'burst');
      await kubectl(cluster.server, ['set', 'image', 'daemonset/ipledger-agent', '*=ipledger:burst', NAMESPACE]);
      return async () => {
        await untilRolledOut(kube);
        expect(await runningImages(kube, 'agent')).toEqual(['ipledger:burst']);
        await kubectl(cluster.server, ['rollout', 'undo', 'daemonset/ipledger-agent', NAMESPACE]);
      };
    },
  },
];

test.each(TROUBLES)('50 pods get their addresses and give them back while $name', async ({ name, make }) => {
  const number = TROUBLES.findIndex((trouble) => trouble.name === name);
  await using stage = await openStage(`burst-${number}`, [`10.88.${10 + number}.1-10.88.${10 + number}.50`]);
  await stage.kube.create(stage.path('deployments'), deployment('crowd', 50));
  await until('the burst has begun', async () => (await stage.records()).length > 5);
  const look = await make(stage);
  const pods = await stage.running(50);
  expect(new Set(pods.map(({ status }) => status.podIP)).size).toBe(50);
  await stage.settle();
  await look();
  await untilRolledOut(stage.kube);
});

async function killAgent({ cluster }: NodeStage, node: string): Promise<void> {
  await cluster.runIn(node, `pkill -KILL -f 'agent/main.js --config'`);
}

async function deleteAgent({ kube }: NodeStage, node: string): Promise<void> {
  const pods = await kube.list<Pod>(`${PODS}?labelSelector=app.kubernetes.io/component=agent`);
  const ours = pods.find(({ spec }) => spec.nodeName === node);
  expect(ours).toBeDefined();
  await kube.remove(`${PODS}/${ours?.metadata.name}`);
}

/** The name of its pod; empty while there is none. */
async function leaderOf({ kube }: NodeStage): Promise<string> {
  const { spec } = await kube.read<Lease>(LEASE);
  return spec.holderIdentity ?? '';
}

interface Lease {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly holderIdentity?: string };
}

async function untilRolledOut(kube: KubeCalls): Promise<void> {
  await until('the DaemonSet is rolled out', async () => {
    const { metadata, status } = await kube.read<DaemonSet>(
      '/apis/apps/v1/namespaces/ipledger/daemonsets/ipledger-agent',
    );
    const wanted = status.desiredNumberScheduled;
    const isSeen = status.observedGeneration === metadata.generation;
    return isSeen && status.numberReady === wanted && status.updatedNumberScheduled === wanted;
  });
}

interface DaemonSet {
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation: number };
  readonly status: {
    readonly observedGeneration: number;
    readonly numberReady: number;
    readonly desiredNumberScheduled: number;
    readonly updatedNumberScheduled: number;
  };
}
