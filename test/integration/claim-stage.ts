import { expect, vi } from 'vitest';
import { serveClaims } from '#controller/claims/serve-claims.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import { CLAIMS, CLUSTERS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import type { KubeObject, NewObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { installCapi } from '#test/support/capi-crds.ts';
import { clientOf } from './kube-things.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { poolOf, removeAll, sure } from './spider-objects.ts';

export const NAMESPACE = 'default';
export const LOOK_EVERY_MS = 500;
export const PATIENCE = { timeout: 60_000, interval: 25 };
/** For many claims at once. */
const LONG_PATIENCE = { timeout: 150_000, interval: 250 };

interface ClaimWish {
  readonly namespace?: string;
  readonly pool?: string;
  readonly cluster?: string;
  readonly metadata?: object;
  readonly poolRef?: object;
}

interface LeadWish {
  readonly client?: KubeClient;
  /** The client of its watches. */
  readonly viewClient?: KubeClient;
  readonly ledger?: Ledger;
  readonly isLeader?: () => boolean;
}

interface Leader extends AsyncDisposable {
  readonly told: readonly EmittedEvent[];
  /** What its watch of records has told it. */
  readonly records: Pick<RecordsView, 'get'>;
  /** It has noticed that etcd was restored. */
  readonly restored: Promise<void>;
}

type StageCluster = Pick<LedgerCluster, 'server' | 'controller' | 'clear'> & AsyncDisposable;

/** An API server with the CRDs of Cluster API, and the hands of an infrastructure provider. */
export interface ClaimStage<Cluster extends StageCluster = LedgerCluster> extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly admin: KubeClient;
  readonly ledger: Ledger;
  clear(): Promise<void>;
  lead(wish?: LeadWish): Leader;
  pool(name: string, ips: readonly string[], spec?: object, metadata?: object): Promise<KubeObject>;
  capiCluster(name: string, isPaused?: boolean): Promise<KubeObject>;
  claim(name: string, wish?: ClaimWish): Promise<KubeObject>;
  get(name: string, namespace?: string): Promise<KubeObject>;
  remove(object: KubeObject): Promise<void>;
  address(name: string): Promise<KubeObject | null>;
  /** The address that a claim is Ready with. */
  served(name: string, namespace?: string): Promise<string>;
  /** The same for many, in their order. One list for all: many that ask for themselves would keep the API server busy. */
  servedAll(names: readonly string[]): Promise<string[]>;
  /** Waits until the Ready condition says so: `False/PoolExhausted`. Returns its message. */
  says(name: string, wanted: string): Promise<string>;
  records(): Promise<string[]>;
}

export async function startClaimStage(): Promise<ClaimStage> {
  const cluster = await startLedgerCluster();
  await installCapi(cluster.server);
  return stageOn(cluster);
}

/** On a server that has Cluster API and ipledger already. */
export function stageOn<Cluster extends StageCluster>(cluster: Cluster): ClaimStage<Cluster> {
  const admin = clientOf(cluster.server);
  const ledger = openKubernetesLedger(cluster.controller());
  const get = (name: string, namespace = NAMESPACE) => sure(admin.get(CLAIMS, { namespace, name }));
  const says = async (name: string, wanted: string) =>
    vi.waitFor(async () => {
      const { status, reason, message } = readyOf(await get(name));
      expect(`${status}/${reason}`).toBe(wanted);
      return String(message);
    }, PATIENCE);

  return {
    cluster,
    admin,
    ledger,
    clear: async () => {
      for (const kind of [CLAIMS, IP_ADDRESSES, CLUSTERS, POOLS]) await removeAll(admin, kind);
      await cluster.clear();
    },
    lead: (wish = {}) => startLeader(cluster, wish),
    pool: (name, ips, spec = {}, metadata = {}) =>
      sure(admin.create(POOLS, poolOf(name, { subnet: '10.0.0.0/16', ips, ...spec }, metadata))),
    capiCluster: (name, isPaused = false) =>
      sure(admin.create(CLUSTERS, { metadata: { namespace: NAMESPACE, name }, spec: clusterSpec(isPaused) })),
    claim: (name, wish) => sure(admin.create(CLAIMS, claimOf(name, wish))),
    get,
    remove: async ({ metadata: { namespace, name, uid } }) => {
      const kind = namespace === undefined ? POOLS : CLAIMS;
      await sure(admin.delete(kind, { name, uid, ...(namespace === undefined ? {} : { namespace }) }));
    },
    address: async (name) => {
      const found = await admin.get(IP_ADDRESSES, { namespace: NAMESPACE, name });
      if (!found.ok && found.because !== 'NotFound') throw new Error(found.message);
      return found.ok ? found.object : null;
    },
    served: (name, namespace = NAMESPACE) =>
      vi.waitFor(async () => {
        const claim = await get(name, namespace);
        expect(readyOf(claim)).toMatchObject({ status: 'True' });
        expect(claim['status']).toMatchObject({ addressRef: { name } });
        return addressOf(await sure(admin.get(IP_ADDRESSES, { namespace, name })));
      }, PATIENCE),
    servedAll: (names) =>
      vi.waitFor(async () => {
        const { items } = await sure(admin.list(CLAIMS, { namespace: NAMESPACE }));
        const ready = new Set(items.filter(isReady).map(({ metadata }) => metadata.name));
        expect(names.filter((name) => !ready.has(name))).toEqual([]);
        const addresses = await sure(admin.list(IP_ADDRESSES, { namespace: NAMESPACE }));
        const byName = new Map(addresses.items.map((it) => [it.metadata.name, addressOf(it)]));
        return names.map((name) => byName.get(name) ?? '');
      }, LONG_PATIENCE),
    says,
    records: async () => (await ledger.list({ limit: 5_000 })).map(({ name }) => name),
    [Symbol.asyncDispose]: async () => {
      admin[Symbol.dispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

export function claimOf(name: string, wish: ClaimWish = {}): NewObject {
  const { namespace = NAMESPACE, pool = 'lab', cluster, metadata = {}, poolRef = {} } = wish;
  return {
    metadata: { namespace, name, ...metadata },
    spec: {
      ...(cluster === undefined ? {} : { clusterName: cluster }),
      poolRef: { apiGroup: POOLS.group, kind: POOLS.kind, name: pool, ...poolRef },
    },
  };
}

function addressOf(object: KubeObject): string {
  return (object['spec'] as { address: string }).address;
}

export function readyOf({ status }: KubeObject): Readonly<Record<string, unknown>> {
  const { conditions = [] } = (status ?? {}) as { conditions?: Record<string, unknown>[] };
  return conditions.find(({ type }) => type === 'Ready') ?? {};
}

function isReady(claim: KubeObject): boolean {
  const { addressRef } = (claim['status'] ?? {}) as { addressRef?: { name: string } };
  return readyOf(claim)['status'] === 'True' && addressRef?.name === claim.metadata.name;
}

function clusterSpec(paused: boolean): object {
  const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'TestCluster', name: 'test' };
  return { infrastructureRef, ...(paused ? { paused } : {}) };
}

function startLeader(cluster: StageCluster, wish: LeadWish): Leader {
  const stack = new AsyncDisposableStack();
  const told: EmittedEvent[] = [];
  const client = wish.client ?? cluster.controller();
  const views = stack.use(watchAsLeader(wish.viewClient ?? client));
  const restored = Promise.withResolvers<void>();
  stack.use(views.records.onRestored(restored.resolve));
  stack.use(
    serveClaims({
      client,
      log: silent,
      now: () => new Date(),
      isLeader: wish.isLeader ?? (() => true),
      ledger: wish.ledger ?? openKubernetesLedger(client),
      events: { emit: (event) => void told.push(event) },
      lookEveryMs: LOOK_EVERY_MS,
      ...views,
    }),
  );
  return {
    told,
    records: views.records,
    restored: restored.promise,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
