import { pino } from 'pino';
import { expect, vi } from 'vitest';
import { ClusterView } from '#controller/cluster-view/cluster-view.ts';
import { CollectCounts } from '#controller/collect/collect-metrics.ts';
import { Collection, collectorTask } from '#controller/collect/collector.ts';
import { LeaderController } from '#controller/controller.ts';
import { COLLECT_DEFAULTS, type CollectSettings } from '#controller/judge/collect-settings.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import { SYSTEM_TIMING } from '#pkg/kube/transport/timing.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Holder, IpRecord, RecordSpec, RecordState } from '#pkg/record/ip-record.ts';
import { holderOf, specOf } from '#test/contract/record-spec.ts';
import { callApi } from '#test/support/api-request.ts';
import { setAgentReady } from '#test/support/service-account-tokens.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';

/** Seconds instead of minutes. The lease may be old, because test machines are slow; the tests rely on Ready instead. */
export const QUICK: CollectSettings = {
  ...COLLECT_DEFAULTS,
  sweepEveryMs: 700,
  settleMs: 1_500,
  nodeGoneMs: 2_500,
  agentAwayMs: 4_000,
  leaseFreshMs: 60_000,
  notTakenMs: 2_000,
};
const QUICK_PACE = { leaseMs: 4_000, renewDeadlineMs: 3_000, retryMs: 300 };
export const PATIENCE = { timeout: 60_000, interval: 100 };

const QUIET = pino({ level: 'silent' });

interface PodWish {
  readonly namespace?: string;
  readonly node?: string;
  readonly address?: string;
  readonly phase?: string;
  readonly graceSeconds?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
}

export interface MadePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** A cluster of API objects only, with methods that play the kubelets and Kubernetes' controllers. */
export interface ControllerStage extends AsyncDisposable {
  readonly cluster: LedgerCluster;
  readonly ledger: Ledger;
  admin<T = Readonly<Record<string, unknown>>>(method: string, path: string, body?: unknown): Promise<T>;
  /** With its agent, where it has one: worker-0, worker-1 and worker-2. */
  setNode(name: string, isReady: boolean): Promise<void>;
  setAgent(node: string, isReady: boolean): Promise<void>;
  removeNode(name: string): Promise<void>;
  pod(name: string, wish?: PodWish): Promise<MadePod>;
  /** Deletes the object at once, as with `--force --grace-period=0`. */
  forceDelete(pod: MadePod): Promise<void>;
  record(address: string, holder: Partial<Holder>, spec?: Partial<RecordSpec>): Promise<IpRecord>;
  names(): Promise<string[]>;
}

export async function startControllerStage(): Promise<ControllerStage> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startLedgerCluster());
  const ledger = openKubernetesLedger(cluster.controller(), { timeoutMs: 60_000, attemptTimeoutMs: 20_000 });
  const { server } = cluster;
  const wellNodes = new Set<string>();

  const admin: ControllerStage['admin'] = async (method, path, body) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { status, body: answer } = await callApi(server, { method, path, body, token: server.adminToken, type });
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer as never;
  };
  const orElse = <T>(promise: Promise<T>) => promise.catch(() => undefined);

  await orElse(admin('POST', '/api/v1/namespaces', { metadata: { name: 'kube-node-lease' } }));
  await admin('POST', '/api/v1/namespaces', { metadata: { name: 'prod' } });
  const renew = async (name: string) => {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    await admin('PATCH', `${leases}/${name}`, { spec }).catch(() =>
      admin('POST', leases, { metadata: { name }, spec }),
    );
  };
  const renewal = setInterval(() => {
    for (const name of wellNodes) void orElse(renew(name));
  }, 1_000);
  stack.defer(() => clearInterval(renewal));

  const everything = stack.move();
  return {
    cluster,
    ledger,
    admin,
    setNode: async (name, isReady) => {
      await orElse(admin('POST', '/api/v1/nodes', { metadata: { name } }));
      const condition = { type: 'Ready', status: isReady ? 'True' : 'Unknown' };
      await admin('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions: [condition] } });
      if (isReady) wellNodes.add(name);
      else wellNodes.delete(name);
      await orElse(setAgentReady(server, name, isReady));
    },
    setAgent: (node, isReady) => setAgentReady(server, node, isReady),
    removeNode: async (name) => {
      wellNodes.delete(name);
      await admin('DELETE', `/api/v1/nodes/${name}`);
    },
    pod: async (
      name,
      {
        namespace = 'prod',
        node = 'worker-1',
        address,
        phase = 'Running',
        graceSeconds = 30,
        annotations = {},
        owner,
      } = {},
    ) => {
      const ownerReferences = owner === undefined ? [] : [{ ...owner, controller: true }];
      const pods = `/api/v1/namespaces/${namespace}/pods`;
      const containers = [{ name: 'main', image: 'main' }];
      const spec = { nodeName: node, terminationGracePeriodSeconds: graceSeconds, containers };
      const made = await admin<{ metadata: { uid: string } }>('POST', pods, {
        metadata: { name, annotations, ownerReferences },
        spec,
      });
      const podIPs = address === undefined ? {} : { podIP: address, podIPs: [{ ip: address }] };
      await admin('PATCH', `${pods}/${name}/status`, { status: { phase, ...podIPs } });
      return { namespace, name, uid: made.metadata.uid, node };
    },
    forceDelete: async ({ namespace, name }) => {
      await admin('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { gracePeriodSeconds: 0 });
    },
    record: async (address, holder, spec = {}) => {
      const { owner: _, ...plain } = holderOf();
      const made = await ledger.create(specOf(address, { ...spec, holder: { ...plain, ...holder } }));
      if (!made.taken) throw new Error(`${address} is taken`);
      return made.record;
    },
    names: async () => (await ledger.list({ limit: 20_000 })).map(({ name }) => name),
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

const AT_ONCE = 16;

/** There was never such a Node, so nothing runs there. */
export const LOST_NODE = 'worker-lost';

/** Records of pods that are no more on a node that is lost: 10.2.0.0 and on. */
export async function leakRecords({ record }: ControllerStage, count: number): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, index) => from + index);
    await Promise.all(
      some.map((at) =>
        record(`10.2.${at >> 8}.${at & 255}`, { name: `dead-${at}`, uid: `dead-${at}`, node: LOST_NODE }),
      ),
    );
  }
}

/** The holder fields that name this pod. */
export function held({ namespace, name, uid, node }: MadePod): Partial<Holder> {
  return { kind: 'Pod', namespace, name, uid, node };
}

interface Running extends AsyncDisposable {
  readonly collected: ReadonlyMap<string, number>;
  readonly doubted: ReadonlyMap<string, number>;
  readonly told: readonly EmittedEvent[];
}

/** The collected records by cause. The counter changes shortly after the write, so this waits for the expected values. */
export function expectCollected({ collected }: Pick<Running, 'collected'>) {
  return expect.poll(() => [...collected].toSorted(), PATIENCE);
}

export function expectCauses({ collected }: Pick<Running, 'collected'>) {
  return expect.poll(() => [...collected.keys()].toSorted(), PATIENCE);
}

interface RunWish {
  readonly identity?: string;
  readonly client?: KubeClient;
  readonly settings?: Partial<CollectSettings>;
}

/** A whole controller with its own token, as leader or as standby. */
export function runController(
  stage: ControllerStage,
  wish: RunWish = {},
): Running & { readonly controller: LeaderController } {
  const { identity = 'one', client = stage.cluster.controller() } = wish;
  const { deps, ...seen } = collectDeps(client, wish.settings);
  const { log, timing, now } = deps;
  const { leaseFreshMs } = deps.settings;
  const controller = new LeaderController(
    { podName: identity, podNamespace: 'ipledger', leaseName: 'test-controller', pace: QUICK_PACE },
    { client, tasks: [collectorTask(deps)], log, timing, now, leaseFreshMs },
  );
  return { controller, ...seen, [Symbol.asyncDispose]: () => controller[Symbol.asyncDispose]() };
}

/** A replica that acts as leader without a lease. `viewClient`: the client of its watches. */
export async function leadAnyway(
  stage: ControllerStage,
  wish: RunWish & { readonly viewClient?: KubeClient; readonly mayWrite?: () => boolean } = {},
): Promise<Running & { readonly collection: Collection; readonly view: ClusterView }> {
  const client = wish.client ?? stage.cluster.controller();
  const { deps, ...seen } = collectDeps(client, wish.settings);
  const term = new AbortController();
  const nowMs = () => SYSTEM_TIMING.nowMs();
  const { leaseFreshMs } = deps.settings;
  const view = new ClusterView({
    client: wish.viewClient ?? client,
    log: QUIET,
    nowMs,
    leaseFreshMs,
    agentNamespace: 'ipledger',
  });
  await view.synced;
  const collection = new Collection(deps, { signal: term.signal, view, mayWrite: wish.mayWrite ?? (() => true) });
  const stop = async () => {
    term.abort();
    await collection[Symbol.asyncDispose]();
    await view[Symbol.asyncDispose]();
  };
  return { collection, view, ...seen, [Symbol.asyncDispose]: stop };
}

function collectDeps(client: KubeClient, settings: Partial<CollectSettings> = {}) {
  const metrics = new CollectCounts();
  const told: EmittedEvent[] = [];
  const deps = {
    client,
    settings: { ...QUICK, ...settings },
    metrics,
    events: { emit: (event: EmittedEvent) => void told.push(event) },
    log: QUIET,
    timing: SYSTEM_TIMING,
    now: () => new Date(),
  };
  return { deps, told, collected: metrics.counts.collected, doubted: metrics.counts.doubted };
}

/** Until the record is in that state. */
export async function untilState({ ledger }: ControllerStage, name: string, state: RecordState): Promise<IpRecord> {
  const isThere = async () => {
    const record = await ledger.get(name);
    return record?.spec.state === state && record;
  };
  return await vi.waitUntil(isThere, PATIENCE);
}

/** Waits until the records are exactly these. */
export async function untilNames(stage: ControllerStage, names: readonly string[]): Promise<void> {
  const wanted = [...names].sort().join(' ');
  await vi.waitUntil(async () => (await stage.names()).sort().join(' ') === wanted, PATIENCE);
}
