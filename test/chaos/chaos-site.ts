import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKubeconfig } from '#test/support/api-credentials.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { type ApiServer, startApiServer } from '#test/support/api-server.ts';
import { builtPath } from '#test/support/built.ts';
import { deployWithNodes, type JoinedNode } from '#test/support/joined-nodes.ts';
import { plainToken } from '#test/support/service-account-tokens.ts';
import { APPLICATION_NETWORKS } from './application-asks.ts';
import { ChaosApi } from './chaos-api.ts';
import type { AgentPlace } from './cni-over-socket.ts';
import { setReady } from './faults.ts';
import { MortalProcess } from './mortal-process.ts';

const NODES = ['worker-0', 'worker-1', 'worker-2'];
/** As many addresses as all workloads and machines at their largest need, so that pools are full at times and all pods fit at the end. */
const POOLS = { stateless: '10.60.0.10-10.60.0.67', sticky: '10.61.0.10-10.61.0.43' };
/** More than all applications and kept pools need at their largest in one subnet: what a pool drops is nobody's for a minute. */
const OF_SUBNET = { first: 10, last: 89 };
export const SPIDER = '/apis/spiderpool.spidernet.io/v2beta1';
const CONFIG = 'enableIPv4: true\nenableIPv6: false\nexhaustedWaitSeconds: 3\n';

/**
 * Seconds instead of minutes, in the same proportions. A kubelet renews its lease every 0.3 s, at most 1.5 s after it read
 * its pods: with 4 s of freshness and 10 s of settling, a watch may lag by 4 s.
 */
const PACE = {
  IPLEDGER_GC_SETTLE_DURATION: '10',
  IPLEDGER_GC_NODE_LEASE_FRESH_DURATION: '4',
  IPLEDGER_GC_AGENT_AWAY_DURATION: '50',
  IPLEDGER_GC_RETAINED_NOT_TAKEN_DURATION: '5',
  IPLEDGER_GC_DEFAULT_INTERVAL_DURATION: '10',
  IPLEDGER_LEADER_DURATION: '4',
  IPLEDGER_LEADER_RENEW_DEADLINE: '3',
  IPLEDGER_LEADER_RETRY_PERIOD: '1',
};

export interface ChaosNode {
  readonly name: string;
  readonly agent: MortalProcess;
  readonly place: AgentPlace;
}

export interface ChaosSite extends AsyncDisposable {
  readonly server: ApiServer;
  readonly api: ChaosApi;
  readonly nodes: readonly ChaosNode[];
  readonly controllers: readonly MortalProcess[];
}

export interface ChaosSiteWish {
  readonly pools?: Readonly<Record<string, string>>;
  /** What else is in the cluster when agents and controllers start. */
  readonly install?: (server: ApiServer, api: ChaosApi) => Promise<void>;
}

/** An API server, the built agents of three nodes with their own tokens, and two built controllers; does not wait until they are ready. */
export async function startChaosSite({ pools = POOLS, install }: ChaosSiteWish = {}): Promise<ChaosSite> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startApiServer());
  const api = stack.use(new ChaosApi(server));
  const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'ipl-chaos-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const joined = await deployWithNodes(server, NODES);
  await prepare(api, pools);
  await install?.(server, api);
  const config = join(directory, 'conf.yml');
  await writeFile(config, CONFIG);
  const nodes: ChaosNode[] = [];
  for (const node of joined) nodes.push(await agentOf(node, join(directory, node.name), config));
  const controllers = [await controllerOf(server, 'one', config), await controllerOf(server, 'two', config)];
  for (const mortal of [...nodes.map(({ agent }) => agent), ...controllers]) stack.use(mortal).start();
  const everything = stack.move();
  return { server, api, nodes, controllers, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}

async function prepare(api: ChaosApi, pools: Readonly<Record<string, string>>): Promise<void> {
  for (const name of ['prod', 'kube-node-lease']) {
    await api.create('/api/v1/namespaces', { metadata: { name } }).catch((thrown: Error) => {
      if (!thrown.message.includes(' 409 ')) throw thrown;
    });
  }
  for (const name of NODES) await setReady(api, name, true);
  for (const [name, ips] of Object.entries(pools)) {
    await api.create(`${SPIDER}/spiderippools`, poolObject('SpiderIPPool', name, ips));
  }
  for (const [name, network] of Object.entries(APPLICATION_NETWORKS)) {
    const ips = `${network}${OF_SUBNET.first}-${network}${OF_SUBNET.last}`;
    await api.create(`${SPIDER}/spidersubnets`, poolObject('SpiderSubnet', name, ips));
  }
}

export function poolObject(kind: 'SpiderIPPool' | 'SpiderSubnet', name: string, ips: string): object {
  const subnet = `${ips.split('.').slice(0, 2).join('.')}.0.0/24`;
  return { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind, metadata: { name }, spec: { subnet, ips: [ips] } };
}

async function agentOf(node: JoinedNode, directory: string, config: string): Promise<ChaosNode> {
  const at = (name: string) => join(directory, name);
  const place = { socket: at('agent.sock'), spoolDirectory: at('spool') };
  const places = ['--data', at('data'), '--spool', place.spoolDirectory, '--socket', place.socket];
  const agent = new MortalProcess({
    name: `agent of ${node.name}`,
    program: await builtPath('ipledger-agent'),
    args: ['--config', config, '--kubeconfig', node.kubeconfigFile, ...places],
    env: {
      IPLEDGER_NODE_NAME: node.name,
      IPLEDGER_POD_NAME: node.podName,
      IPLEDGER_POD_NAMESPACE: 'ipledger',
      IPLEDGER_LOG_LEVEL: 'debug',
      IPLEDGER_ENABLED_METRIC: 'false',
      IPLEDGER_HEALTH_PORT: String(await findFreePort()),
    },
  });
  return { name: node.name, agent, place };
}

async function controllerOf(server: ApiServer, name: string, config: string): Promise<MortalProcess> {
  const kubeconfig = join(server.dir, `controller-${name}.yaml`);
  const adminToken = await plainToken(server, 'ipledger-controller');
  await writeKubeconfig(kubeconfig, server.url, { caFile: server.caFile, adminToken });
  return new MortalProcess({
    name: `controller ${name}`,
    program: await builtPath('ipledger-controller'),
    args: ['--kubeconfig', kubeconfig, '--config', config, '--host', '127.0.0.1', '--no-webhook'],
    env: {
      IPLEDGER_POD_NAME: name,
      IPLEDGER_POD_NAMESPACE: 'ipledger',
      IPLEDGER_ENABLED_METRIC: 'false',
      IPLEDGER_HEALTH_PORT: String(await findFreePort()),
      ...PACE,
    },
  });
}
