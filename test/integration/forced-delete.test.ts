import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runCtl } from '#ctl/run-ctl.ts';
import { runCni } from '#test/support/cni.ts';
import { openMemoryTerminal } from '#test/support/memory-terminal.ts';
import { makeNetns, type Netns } from '#test/support/netns.ts';
import { startIn } from '#test/support/netns-process.ts';
import { type ClusterAgentProcess, startClusterAgentProcess } from './cluster-agent-process.ts';
import { type Pod, type PodCluster, startPodCluster } from './pod-cluster.ts';
import { containerOf } from './pod-plugin.ts';

const ADDRESS = '10.97.0.10';
const CONFIG = {
  cniVersion: '1.0.0',
  name: 'lan',
  type: 'macvlan',
  master: 'uplink',
  mode: 'bridge',
  ipam: { type: 'ipledger' },
} as const;

let cluster: PodCluster;

beforeAll(async () => {
  cluster = await startPodCluster();
  await cluster.createPool('lan', { subnet: '10.97.0.0/24', ips: [ADDRESS], default: true });
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** Two nodes on one link, and a host there that asks who has the address. */
async function makeSite() {
  await using making = new AsyncDisposableStack();
  const lan = making.use(await makeNetns());
  await lan.must('ip', 'link', 'add', 'br0', 'type', 'bridge');
  await lan.must('ip', 'link', 'set', 'br0', 'up');
  await lan.must('ip', 'address', 'add', '10.97.0.200/24', 'dev', 'br0');
  const nodes: Netns[] = [];
  for (const name of ['n1', 'n2']) {
    const node = making.use(await makeNetns());
    await node.must('ip', 'link', 'add', 'uplink', 'type', 'veth', 'peer', 'name', name, 'netns', lan.name);
    await node.must('ip', 'link', 'set', 'uplink', 'up');
    await lan.must('ip', 'link', 'set', name, 'up', 'master', 'br0');
    nodes.push(node);
  }
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error('a node is missing');
  const made = making.move();
  return {
    first,
    second,
    /** Null: nobody answers. */
    whoAnswers: async (): Promise<string | null> => {
      await lan.run('ip', ['neigh', 'flush', 'dev', 'br0']);
      await lan.run('ping', ['-c', '1', '-W', '1', ADDRESS]);
      const line = await lan.must('ip', 'neigh', 'show', ADDRESS, 'dev', 'br0');
      return /lladdr (\S+)/.exec(line)?.[1] ?? null;
    },
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

/** By the main plugin, or by ours alone: a main plugin whose IPAM failed leaves its link behind and does not ask again. */
function add(
  agent: ClusterAgentProcess,
  host: Netns,
  pod: Pod,
  netns: Netns,
  plugin: 'macvlan' | 'ipledger' = 'macvlan',
) {
  return runCni({
    verb: 'ADD',
    plugin,
    config: CONFIG,
    host,
    env: agent.env,
    containerId: containerOf(pod),
    netns: netns.path,
    ifName: 'eth0',
    args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=${pod.namespace};K8S_POD_NAME=${pod.name};K8S_POD_UID=${pod.uid}`,
  });
}

async function macOf(netns: Netns): Promise<string> {
  const [link]: { address: string }[] = JSON.parse(await netns.must('ip', '-json', 'link', 'show', 'eth0'));
  return link?.address ?? '';
}

test('a pod that was deleted by force keeps its address while its namespace lives, and no other pod gets it before', async () => {
  await using site = await makeSite();
  await using agent = await startClusterAgentProcess(cluster, cluster.ledger.port);
  await using other = await startClusterAgentProcess(cluster, cluster.ledger.port, { node: 'worker-2' });
  await using sandbox = await makeNetns();
  await using next = await makeNetns();
  const web = await cluster.createPod({ name: 'web' });
  const late = await cluster.createPod({ name: 'late', node: 'worker-2' });
  expect(await add(agent, site.first, web, sandbox)).toMatchObject({ code: 0 });
  const mac = await macOf(sandbox);
  await vi.waitUntil(async () => (await site.whoAnswers()) === mac, { timeout: 60_000, interval: 100 });
  await using pause = await startIn(sandbox);
  const answers = new Set<string | null>();
  /** The pod on the other node asks, and asks again; each time the network is asked who answers. */
  const expectKept = async () => {
    for (let round = 0; round < 4; round += 1) {
      const refused = await add(other, site.second, late, next, 'ipledger');
      expect(refused).toMatchObject({ code: 1, result: { code: 11 } });
      answers.add(await site.whoAnswers());
      expect(await cluster.records()).toMatchObject([{ spec: { state: 'Allocated', holder: { uid: web.uid } } }]);
    }
  };

  // The main plugin is missing on the node: no DEL comes, and an operator deletes the pod by force.
  await cluster.deletePod(web);
  const terminal = openMemoryTerminal();
  const asked = ['release', ADDRESS, '--yes', '--socket', agent.env.IPLEDGER_SOCKET];
  expect(await runCtl(asked, {}, terminal)).toBe(2);
  expect(terminal.stderr).toContain(`no living pod has it, but its network namespace ${sandbox.path} is still there`);
  await expectKept();
  await agent.kill();
  await agent.start();
  await expectKept();
  // Its file is removed, but a process runs in it still.
  await sandbox.remove();
  await expectKept();
  expect([...answers]).toEqual([mac]);

  await pause.end();
  await vi.waitUntil(async () => (await cluster.records()).length === 0, { timeout: 60_000, interval: 50 });
  expect(await site.whoAnswers()).toBeNull();
  expect(await add(other, site.second, late, next)).toMatchObject({ code: 0 });
  const nextMac = await macOf(next);
  await vi.waitUntil(async () => (await site.whoAnswers()) === nextMac, { timeout: 60_000, interval: 100 });
});

test('a sandbox that vanished while its agent was away is released when the agent is back', async () => {
  await cluster.ledger.clear();
  await using site = await makeSite();
  await using agent = await startClusterAgentProcess(cluster, cluster.ledger.port);
  await using sandbox = await makeNetns();
  const web = await cluster.createPod({ name: 'web-2' });
  expect(await add(agent, site.first, web, sandbox)).toMatchObject({ code: 0 });
  await agent.kill();
  await cluster.deletePod(web);
  await sandbox.remove();
  expect(await cluster.records()).toHaveLength(1);
  await agent.start();
  await vi.waitUntil(async () => (await cluster.records()).length === 0, { timeout: 60_000, interval: 50 });
});
