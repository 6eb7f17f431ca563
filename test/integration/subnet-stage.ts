import { vi } from 'vitest';
import { ClusterView } from '#controller/cluster-view/cluster-view.ts';
import { startNetworkReconcilers } from '#controller/network-reconcilers.ts';
import { podsOf } from '#controller/project/pods-view.ts';
import { recordsOf } from '#controller/project/records-view.ts';
import { workloadPodsOf } from '#controller/subnets/workload-pods.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import { DEPLOYMENTS, NAMESPACES } from '#pkg/kube/objects/core-resources.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { heldBy, specOf } from '#test/contract/record-spec.ts';
import { clientOf } from './kube-things.ts';
import { silent } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { serveWebhook } from './serve-webhook.ts';
import { poolOf, sure } from './spider-objects.ts';

export const PATIENCE = { timeout: 60_000, interval: 50 };

/** An API server with namespaces and webhooks, and no controller yet. */
export interface SubnetStage extends AsyncDisposable {
  readonly cluster: LedgerCluster;
  readonly admin: KubeClient;
  readonly ledger: Ledger;
  subnet(name: string, spec: Readonly<Record<string, unknown>>, metadata?: object): Promise<KubeObject>;
  /** A Deployment whose template has these annotations. */
  deploy(name: string, replicas: number, annotations: Readonly<Record<string, string>>): Promise<KubeObject>;
  scale(name: string, replicas: number): Promise<void>;
  /** Changes annotations of the template of a Deployment; null removes one. */
  annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void>;
  /** All pools, by name. */
  pools(): Promise<KubeObject[]>;
  poolsOf(application: string): Promise<KubeObject[]>;
  /** The pool of the application once it has exactly so many addresses. */
  poolWith(application: string, count: number): Promise<KubeObject>;
  /** A pod of nobody takes this address of the pool. */
  take(address: string, pool: string): Promise<void>;
  give(address: string): Promise<void>;
}

export const NAMESPACE = 'prod';

export async function startSubnetStage(options: { readonly hasWebhook?: boolean } = {}): Promise<SubnetStage> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startLedgerCluster());
  const admin = stack.use(clientOf(cluster.server));
  const ledger = openKubernetesLedger(cluster.controller());
  await sure(admin.create(NAMESPACES, { metadata: { name: NAMESPACE } }));
  if (options.hasWebhook !== false) stack.use(await serveWebhook({ admin, client: cluster.controller(), ledger }));
  const pools = async () =>
    (await sure(admin.list(POOLS))).items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const everything = stack.move();
  return {
    cluster,
    admin,
    ledger,
    subnet: (name, spec, metadata = {}) => sure(admin.create(SUBNETS, poolOf(name, spec, metadata))),
    deploy: (name, replicas, annotations) =>
      sure(admin.create(DEPLOYMENTS, workload(name, { replicas, template: templateOf(annotations) }))),
    scale: async (name, replicas) => {
      await sure(admin.patch(DEPLOYMENTS, { namespace: NAMESPACE, name }, { spec: { replicas } }));
    },
    annotate: async (name, annotations) => {
      const spec = { template: { metadata: { annotations } } };
      await sure(admin.patch(DEPLOYMENTS, { namespace: NAMESPACE, name }, { spec }));
    },
    pools,
    poolsOf: async (application) => (await pools()).filter((pool) => applicationOf(pool) === application),
    poolWith: (application, count) =>
      vi.waitFor(async () => {
        const found = (await pools()).find((pool) => applicationOf(pool) === application && sizeOf(pool) === count);
        if (found !== undefined) return found;
        throw new Error(`no pool of ${application} with ${count}: ${JSON.stringify((await pools()).map(shown))}`);
      }, PATIENCE),
    take: async (address, pool) => {
      const spec = specOf(address, { pool: { kind: 'SpiderIPPool', name: pool, uid: 'u' } });
      const made = await ledger.create(heldBy(spec, { name: `pod-${address}`, namespace: NAMESPACE }));
      if (!made.taken) throw new Error(`${address} is taken`);
    },
    give: async (address) => {
      const record = await ledger.get(address);
      if (record !== null) await ledger.release(record);
    },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

export interface Led extends AsyncDisposable {
  readonly told: readonly EmittedEvent[];
}

export interface LeadOptions {
  readonly client?: KubeClient;
  readonly now?: () => Date;
  readonly recordsMissingForMs?: () => number;
}

/** The reconcilers of a leader, without its lease. */
export async function lead(stage: Pick<SubnetStage, 'cluster'>, options: LeadOptions = {}): Promise<Led> {
  const { client = stage.cluster.controller(), now = () => new Date(), recordsMissingForMs = () => 0 } = options;
  const stack = new AsyncDisposableStack();
  const nowMs = () => performance.now();
  const view = stack.use(
    new ClusterView({ client, log: silent, nowMs, leaseFreshMs: 25_000, agentNamespace: 'ipledger' }),
  );
  await view.synced;
  const told: EmittedEvent[] = [];
  stack.use(
    startNetworkReconcilers({
      client,
      ledger: openKubernetesLedger(client),
      log: silent,
      now,
      isLeader: () => true,
      records: recordsOf(view),
      pools: view.pools,
      pods: podsOf(view),
      events: { emit: (event) => void told.push(event) },
      nodeCount: () => 1,
      recordsMissingForMs,
      adoptPools: true,
      vitistack: {
        rangeRules: { floor: 2 },
        providerSettings: { isStrict: false },
        isAdopted: async () => true,
      },
      rules: { enableStatefulSet: true, enableCleanOutdatedEndpoint: false },
      autoPools: {
        workloads: workloadPodsOf(view),
        wishRules: { enableIPv4: true, enableIPv6: true, clusterSubnetAutoPoolDefaultRedundantIPNumber: 0 },
        readAgainMs: 500,
      },
    }),
  );
  return { told, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

export const asks = (subnet: string, more: Readonly<Record<string, string>> = {}) => ({
  'ipam.spidernet.io/subnet': JSON.stringify({ ipv4: [subnet] }),
  ...more,
});

function templateOf(annotations: Readonly<Record<string, string>>, spec: object = {}): object {
  return {
    metadata: { labels: { app: 'x' }, annotations },
    spec: { containers: [{ name: 'main', image: 'main' }], ...spec },
  };
}

function workload(name: string, spec: object) {
  return { metadata: { name, namespace: NAMESPACE }, spec: { selector: { matchLabels: { app: 'x' } }, ...spec } };
}

export function ipsOf(pool: KubeObject | undefined): readonly string[] {
  return ((pool?.['spec'] as { ips?: string[] } | undefined)?.ips ?? []) as readonly string[];
}

function sizeOf(pool: KubeObject): number {
  return valuesOf(pool).length;
}

function applicationOf({ metadata }: KubeObject): string {
  return metadata.labels?.['ipam.spidernet.io/owner-application-name'] ?? '';
}

/** Deletes it as `kubectl delete` does, and nothing that it owns. */
export async function discard(admin: KubeClient, resource: Resource, name: string): Promise<void> {
  const { metadata } = await sure(admin.get(resource, { namespace: NAMESPACE, name }));
  await sure(admin.delete(resource, { namespace: NAMESPACE, name, uid: metadata.uid }));
}

function shown(pool: KubeObject): string {
  return `${pool.metadata.name} [${ipsOf(pool).join(' ')}]`;
}

/** Every address of a pool, as a number. */
export function valuesOf(pool: KubeObject): number[] {
  return ipsOf(pool).flatMap((range) => {
    const [first = '', last = first] = range.split('-');
    return Array.from({ length: toNumber(last) - toNumber(first) + 1 }, (_, i) => toNumber(first) + i);
  });
}

/** The addresses that more than one of the pools has. */
export function sharedBy(pools: readonly KubeObject[]): number[] {
  const values = pools.flatMap(valuesOf);
  return values.filter((value, i) => values.indexOf(value) !== i);
}

export function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}
