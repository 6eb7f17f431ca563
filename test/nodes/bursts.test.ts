import { expect, test } from 'vitest';
import { type NodeStage, openStage } from './stage.ts';
import { until } from './until.ts';
import { deployment } from './workloads.ts';

const AGENTS = '/api/v1/namespaces/ipledger/pods?labelSelector=app.kubernetes.io/component=';

/** What goes wrong while 50 pods start. */
const TROUBLES: readonly { readonly name: string; readonly make: (stage: NodeStage) => Promise<unknown> }[] = [
  {
    name: 'one agent is killed and the pod of another is deleted',
    make: async (stage) => {
      await killAgent(stage, 'n1');
      await deletePods(stage, 'agent', 'n2');
    },
  },
  {
    name: 'the API server is restarted and the leader of the controllers is deleted',
    make: async (stage) => {
      await stage.cluster.act({ do: 'restart-api-server' });
      await deletePods(stage, 'controller');
    },
  },
  {
    name: 'containerd is restarted on one node and kubelet on another',
    make: async ({ cluster }) => {
      await Promise.all([
        cluster.act({ do: 'restart', node: 'n1', daemon: 'containerd' }),
        cluster.act({ do: 'restart', node: 'n2', daemon: 'kubelet' }),
      ]);
    },
  },
  {
    name: 'the agents are replaced by a rollout',
    make: async ({ kube }) => {
      const template = { metadata: { annotations: { restarted: 'yes' } } };
      await kube.patch('/apis/apps/v1/namespaces/ipledger/daemonsets/ipledger-agent', { spec: { template } });
    },
  },
];

test.each(TROUBLES)('50 pods get their addresses and give them back while $name', async ({ name, make }) => {
  const number = TROUBLES.findIndex((trouble) => trouble.name === name);
  await using stage = await openStage(`burst-${number}`, [`10.88.${10 + number}.1-10.88.${10 + number}.50`]);
  await stage.kube.create(stage.path('deployments'), deployment('crowd', 50));
  await until('the burst has begun', async () => (await stage.records()).length > 5);
  await make(stage);
  const pods = await stage.running(50);
  expect(new Set(pods.map(({ status }) => status.podIP)).size).toBe(50);
  await stage.settle();
  await allAgentsReady(stage);
});

async function killAgent({ cluster }: NodeStage, node: string): Promise<void> {
  await cluster.runIn(node, `pkill -KILL -f 'agent/main.js --config'`);
}

async function deletePods({ kube }: NodeStage, component: string, node?: string): Promise<void> {
  const pods = await kube.list<{ spec: { nodeName: string } } & Parameters<typeof nameOf>[0]>(`${AGENTS}${component}`);
  const chosen = pods.filter(({ spec }) => node === undefined || spec.nodeName === node);
  expect(chosen).not.toEqual([]);
  for (const pod of chosen.slice(0, 1)) await kube.remove(`/api/v1/namespaces/ipledger/pods/${nameOf(pod)}`);
}

const nameOf = ({ metadata }: { readonly metadata: { readonly name: string; readonly uid: string } }) => metadata.name;

async function allAgentsReady({ kube }: NodeStage): Promise<void> {
  await until('the DaemonSet is rolled out', async () => {
    const { status } = await kube.read<DaemonSet>('/apis/apps/v1/namespaces/ipledger/daemonsets/ipledger-agent');
    return status.numberReady === status.desiredNumberScheduled && status.updatedNumberScheduled === status.numberReady;
  });
}

interface DaemonSet {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: {
    readonly numberReady: number;
    readonly desiredNumberScheduled: number;
    readonly updatedNumberScheduled: number;
  };
}
