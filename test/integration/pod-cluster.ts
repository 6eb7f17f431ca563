import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { onTestFailed, vi } from 'vitest';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import { type AgentEnv, readAgentEnv } from '#agent/compose/agent-env.ts';
import { startClusterAgent } from '#agent/compose/cluster-agent.ts';
import { NO_METRICS, type WatchedGauge } from '#agent/report/agent-metrics.ts';
import {
  type AddArgs,
  type AddResponse,
  CLIENT_HEADER,
  type DelArgs,
  type ErrorBody,
  PATHS,
} from '#pkg/agentapi/wire.ts';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import { decodeClusterConfig } from '#pkg/config/decode-cluster-config.ts';
import { everyRecord } from '#pkg/ledger/every-record.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { callApi } from '#test/support/api-request.ts';
import type { ApiServerOptions } from '#test/support/api-server.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';

interface PodWish {
  readonly name: string;
  readonly namespace?: string;
  readonly node?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly owner?: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
}

export interface Pod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

interface PoolMetadata {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

/** An API server with everything in deploy/, adopted by default, with methods that play kubelet and the users. */
export interface PodCluster extends AsyncDisposable {
  readonly ledger: LedgerCluster;
  createPool(name: string, spec: Readonly<Record<string, unknown>>, metadata?: PoolMetadata): Promise<void>;
  createPod(wish: PodWish): Promise<Pod>;
  /** Removes the object at once. */
  deletePod(pod: Pod): Promise<void>;
  post<T>(path: string, body: unknown): Promise<T>;
  patch(path: string, body: unknown): Promise<void>;
  remove(path: string): Promise<void>;
  read<T>(path: string): Promise<T>;
  records(): Promise<IpRecord[]>;
  /** Writes the marker that agents wait for. */
  adopt(): Promise<void>;
}

export async function startPodCluster({
  isAdopted = true,
  ...options
}: ApiServerOptions & { readonly isAdopted?: boolean } = {}): Promise<PodCluster> {
  await using stack = new AsyncDisposableStack();
  const ledger = stack.use(await startLedgerCluster(options));
  const { server } = ledger;
  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) => {
    const answer = await callApi(server, {
      method,
      path,
      token: server.adminToken,
      ...(body === undefined ? {} : { body }),
    });
    if (answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const post = async <T>(path: string, body: unknown) => (await call('POST', path, body)) as T;
  const reader = openKubernetesLedger(ledger.controller());
  stack.defer(() => reader.close());
  const adopt = () => post('/api/v1/namespaces/ipledger/configmaps', { metadata: { name: 'ipledger-adopted' } });
  if (isAdopted) await adopt();
  const everything = stack.move();
  return {
    ledger,
    post,
    patch: async (path, body) => void (await call('PATCH', path, body)),
    remove: async (path) => void (await call('DELETE', path)),
    read: async <T>(path: string) => (await call('GET', path)) as T,
    adopt: async () => void (await adopt()),
    createPool: async (name, spec, metadata = {}) => {
      const path = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools';
      const kind = { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'SpiderIPPool' };
      await post(path, { ...kind, metadata: { name, ...metadata }, spec });
    },
    createPod: async ({
      name,
      namespace = 'default',
      node = 'worker-1',
      owner,
      restartPolicy = 'Always',
      ...metadata
    }) => {
      const owners = owner === undefined ? {} : { ownerReferences: [{ ...owner, controller: true }] };
      const pod = await post<{ metadata: { uid: string } }>(`/api/v1/namespaces/${namespace}/pods`, {
        metadata: { name, ...metadata, ...owners },
        spec: {
          nodeName: node,
          restartPolicy,
          containers: [{ name: 'main', image: 'main' }],
          terminationGracePeriodSeconds: 0,
        },
      });
      return { namespace, name, uid: pod.metadata.uid };
    },
    deletePod: async ({ namespace, name }) =>
      void (await call('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        gracePeriodSeconds: 0,
      })),
    records: () => Array.fromAsync(everyRecord(reader)),
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

export interface AgentWish {
  readonly node?: string;
  /** That of a proxy or of a second server. */
  readonly port?: number;
  readonly config?: Partial<ClusterConfig>;
  /** Settings of the agent. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly failpoint?: Failpoint;
  /** The data directory of an earlier agent, with its journal and spool. */
  readonly directory?: string;
}

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

export interface AgentAtWork extends AsyncDisposable {
  readonly socket: string;
  readonly directory: string;
  readonly log: readonly string[];
  /** The current metrics. */
  gauge(name: WatchedGauge): number;
  add(pod: Pod, more?: Partial<AddArgs>): Promise<AddResponse>;
  /** Returns any answer, also an error. */
  tryAdd(pod: Pod, more?: Partial<AddArgs>): Promise<Answer<unknown>>;
  /** Why an ADD is refused; throws if it is not. */
  refusal(pod: Pod, more?: Partial<AddArgs>): Promise<ErrorBody>;
  /** The addresses of `ifName`, eth0 unless told, without their prefix lengths. */
  addressesOf(pod: Pod, more?: Partial<AddArgs>): Promise<string[]>;
  del(pod: Pod, more?: Partial<DelArgs>): Promise<void>;
  call<T>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
  untilReady(): Promise<void>;
  stop(): Promise<void>;
}

/** The agent of one node in this process, with the token of that node. */
export async function startAgentOf(cluster: Pick<PodCluster, 'ledger'>, wish: AgentWish = {}): Promise<AgentAtWork> {
  const { node = 'worker-1', failpoint = () => {}, port } = wish;
  const directory = wish.directory ?? (await mkdtemp(join(tmpdir(), 'ipl-cluster-')));
  const log: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => void log.push(line) });
  const socket = join(directory, 'agent.sock');
  const config = {
    ...decodeClusterConfig({}).config,
    exhaustedWaitSeconds: 0,
    ...wish.config,
    ipamUnixSocketPath: socket,
  };
  const places = { dataDirectory: join(directory, 'data'), spoolDirectory: join(directory, 'spool') };
  const loadAccess = cluster.ledger.agentAccess(node, port);
  const gauges = new Map<WatchedGauge, () => number>();
  const metrics = { ...NO_METRICS, watch: (name: WatchedGauge, read: () => number) => void gauges.set(name, read) };
  const agent = await startClusterAgent(
    { config, env: envOf(node, wish.variables), ...places, loadAccess, metrics },
    logger,
    failpoint,
  );
  try {
    onTestFailed(() => void process.stderr.write(`The log of the agent of ${node}:\n${log.join('')}\n`));
  } catch {} // not inside a test
  const call = <T>(method: string, path: string, body?: unknown) => callSocket<T>(socket, method, path, body);
  const tryAdd = (pod: Pod, more: Partial<AddArgs> = {}) => call('POST', PATHS.ip, addArgsOf(pod, more));
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    await agent[Symbol.asyncDispose]();
  };
  return {
    socket,
    directory,
    log,
    gauge: (name) => gauges.get(name)?.() ?? Number.NaN,
    call,
    tryAdd,
    add: async (pod, more) => expectOk(await tryAdd(pod, more)) as AddResponse,
    refusal: async (pod, more) => {
      const { status, body } = await tryAdd(pod, more);
      if (status === 200) throw new Error(`the ADD of ${pod.name} was not refused: ${JSON.stringify(body)}`);
      return body as ErrorBody;
    },
    addressesOf: async (pod, more) => {
      const { ips } = expectOk(await tryAdd(pod, more)) as AddResponse;
      const own = ips.filter(({ nic }) => nic === (more?.ifName ?? 'eth0'));
      return own.map(({ address }) => address.split('/')[0] ?? '');
    },
    del: async (pod, more) => void expectOk(await call('DELETE', PATHS.ip, delArgsOf(pod, more))),
    untilReady: () => vi.waitUntil(() => agent.readiness.isReady, 60_000).then(() => {}),
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
      if (wish.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

export function addArgsOf(pod: Pod, more: Partial<AddArgs> = {}): AddArgs {
  const { containerID = containerOf(pod) } = more;
  const who = { podNamespace: pod.namespace, podName: pod.name, podUID: pod.uid };
  return {
    containerID,
    ifName: 'eth0',
    netNamespace: '/proc/self/ns/net',
    ...who,
    network: 'lab',
    timeoutMs: 30_000,
    ...more,
  };
}

function delArgsOf(pod: Pod, more: Partial<DelArgs> = {}): DelArgs {
  const { containerID = containerOf(pod) } = more;
  const who = { podNamespace: pod.namespace, podName: pod.name, podUID: pod.uid };
  return { containerID, ifName: 'eth0', ...who, network: 'lab', ...more };
}

function containerOf({ uid }: Pod): string {
  return uid.replaceAll('-', '');
}

function expectOk({ status, body }: Answer<unknown>): unknown {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

function envOf(nodeName: string, variables: AgentWish['variables']): AgentEnv {
  const podName = `ipledger-agent-${nodeName}-${randomUUID().slice(0, 5)}`;
  const own = { IPLEDGER_NODE_NAME: nodeName, IPLEDGER_POD_NAME: podName, IPLEDGER_POD_NAMESPACE: 'ipledger' };
  return readAgentEnv({ ...own, ...variables }).env;
}

function callSocket<T>(socketPath: string, method: string, path: string, body: unknown): Promise<Answer<T>> {
  const text = body === undefined ? '' : JSON.stringify(body);
  const headers = { [CLIENT_HEADER]: 'test', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path, method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const said = Buffer.concat(chunks).toString();
        resolve({ status: answer.statusCode ?? 0, body: (said === '' ? null : JSON.parse(said)) as T });
      });
    });
    asked.on('error', reject);
    asked.end(text);
  });
}
