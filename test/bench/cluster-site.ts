import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_PATHS } from '#pkg/agentapi/admin.ts';
import { startApiServer } from '#test/support/api-server.ts';
import { type ClusterAgentProcess, startClusterAgentProcess } from '#test/support/cluster-agent-process.ts';
import { deployWithNodes, type JoinedNode } from '#test/support/joined-nodes.ts';
import { BareClient } from './kube-subject.ts';
import { Client } from './socket-load.ts';

const JSON_HEADERS = { accept: 'application/json', 'content-type': 'application/json' };
const MERGE_PATCH = { ...JSON_HEADERS, 'content-type': 'application/merge-patch+json' };
const CREATES_IN_FLIGHT = 32;
/** Long enough for the watches of the agents to deliver new objects. */
const WATCH_LAG_MS = 1_000;

export interface BenchPod {
  readonly name: string;
  readonly uid: string;
}

/** What a pod says about itself beyond its name and labels. */
export interface PodMetadata {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly object[];
}

type Server = Awaited<ReturnType<typeof startApiServer>>;

/** An API server whose etcd calls fsync, with the adoption marker, and nodes whose agents are separate processes. */
export class ClusterSite implements AsyncDisposable {
  readonly server: Server;
  readonly nodes: readonly JoinedNode[];
  readonly #admin: BareClient;
  readonly #everything: AsyncDisposableStack;
  readonly #agents: ClusterAgentProcess[] = [];
  #pods = 0;

  private constructor(
    server: Server,
    nodes: readonly JoinedNode[],
    admin: BareClient,
    everything: AsyncDisposableStack,
  ) {
    this.server = server;
    this.nodes = nodes;
    this.#admin = admin;
    this.#everything = everything;
  }

  static async start(nodeNames: readonly string[]): Promise<ClusterSite> {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await startApiServer({ fsync: true }));
    const nodes = await deployWithNodes(server, nodeNames);
    const admin = stack.use(await BareClient.open(server, server.adminToken));
    const site = new ClusterSite(server, nodes, admin, stack.move());
    await site.create('/api/v1/namespaces/ipledger/configmaps', { metadata: { name: 'ipledger-adopted' } });
    return site;
  }

  /** The agent ends with the site at the latest. */
  async startAgent(node: JoinedNode, config = ''): Promise<ClusterAgentProcess> {
    return this.#everything.use(await startClusterAgentProcess(node, { config }));
  }

  /** `config`: lines of conf.yml. */
  async startAgents(config = ''): Promise<readonly ClusterAgentProcess[]> {
    this.#agents.push(...(await Promise.all(this.nodes.map((node) => this.startAgent(node, config)))));
    return this.#agents;
  }

  /** A new pool, known to the agents of `startAgents`. */
  async createPool(
    name: string,
    ips: string,
    { labels = {}, ...affinity }: { readonly labels?: object; readonly podAffinity?: object } = {},
  ): Promise<void> {
    await this.create('/apis/spiderpool.spidernet.io/v2beta1/spiderippools', {
      apiVersion: 'spiderpool.spidernet.io/v2beta1',
      kind: 'SpiderIPPool',
      metadata: { name, labels },
      spec: { subnet: '10.0.0.0/8', gateway: '10.255.255.254', ips: [ips], ...affinity },
    });
    await Promise.all(this.#agents.map((agent) => untilKnown(agent, name)));
  }

  /** New pods on each of the nodes, known to their agents. */
  async createPods(nodes: readonly string[], perNode: number, metadata: PodMetadata = {}): Promise<BenchPod[][]> {
    const made = nodes.map((): BenchPod[] => []);
    const wishes = nodes.flatMap((node, at) => Array.from({ length: perNode }, () => ({ node, at })));
    await inFlight(wishes, CREATES_IN_FLIGHT, async ({ node, at }) => {
      this.#pods += 1;
      const name = `web-frontend-7d9f8b6c5d-${this.#pods.toString(36).padStart(5, '0')}`;
      const pod = await this.create<{ metadata: { uid: string } }>('/api/v1/namespaces/default/pods', {
        metadata: { name, labels: { app: 'web-frontend' }, ...metadata },
        spec: { nodeName: node, containers: [{ name: 'main', image: 'main' }] },
      });
      made[at]?.push({ name, uid: pod.metadata.uid });
    });
    await sleep(WATCH_LAG_MS);
    return made;
  }

  /** With a grace period they stay, Terminating, until they are deleted without one. */
  async deletePods(pods: readonly BenchPod[], gracePeriodSeconds = 0): Promise<void> {
    await inFlight(pods, CREATES_IN_FLIGHT, ({ name }) =>
      this.#send('DELETE', `/api/v1/namespaces/default/pods/${name}?gracePeriodSeconds=${gracePeriodSeconds}`),
    );
    await sleep(WATCH_LAG_MS);
  }

  create<T>(path: string, body: unknown): Promise<T> {
    return this.#send<T>('POST', path, body);
  }

  patch(path: string, body: unknown): Promise<unknown> {
    return this.#send('PATCH', path, body);
  }

  read<T>(path: string): Promise<T> {
    return this.#send<T>('GET', path);
  }

  async remove(path: string): Promise<void> {
    await this.#send('DELETE', path);
  }

  async #send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = method === 'PATCH' ? MERGE_PATCH : JSON_HEADERS;
    const answer = JSON.parse((await this.#admin.send(method, path, headers, body)).toString());
    if (answer.kind === 'Status' && answer.status !== 'Success')
      throw new Error(`${method} ${path}: ${answer.message}`);
    return answer;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#everything.disposeAsync();
  }
}

/** The agent refuses to list records of a pool that it does not know yet; the query does not load a view. */
async function untilKnown({ socket }: ClusterAgentProcess, pool: string): Promise<void> {
  const client = new Client(socket);
  const isKnown = () =>
    client.get(`${ADMIN_PATHS.records}?pool=${pool}&limit=1`).then(
      () => true,
      () => false,
    );
  while (!(await isKnown())) await sleep(50);
  client.close();
}

export async function inFlight<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
