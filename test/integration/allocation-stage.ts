import { expect, vi } from 'vitest';
import { serveVitistack } from '#controller/vitistack/serve-vitistack.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { EmittedEvent } from '#pkg/kube/events/events.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS, NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { applyManifests, kubectl } from '#test/support/manifests.ts';
import { installVitistackKinds } from '#test/support/vitistack-crds.ts';
import { clientOf } from './kube-things.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { removeAll, sure } from './spider-objects.ts';

export const NAMESPACE = 'datacenter-01';
export const PATIENCE = { timeout: 60_000, interval: 25 };

interface LeadWish {
  readonly client?: KubeClient;
  /** The client of its watches. */
  readonly viewClient?: KubeClient;
  readonly ledger?: Ledger;
  readonly isLeader?: () => boolean;
  readonly now?: () => Date;
  readonly recordsMissingForMs?: () => number;
  /** VITISTACK_RANGE_FLOOR. */
  readonly floor?: number;
}

interface Leader extends AsyncDisposable {
  readonly told: readonly EmittedEvent[];
}

interface AllocationWish {
  readonly configuration?: string;
  readonly spec?: object;
  readonly metadata?: object;
}

/** An API server with the kinds of Vitistack, and the hands of its operators. */
export interface AllocationStage extends AsyncDisposable {
  readonly cluster: LedgerCluster;
  readonly admin: KubeClient;
  readonly ledger: Ledger;
  clear(): Promise<void>;
  lead(wish?: LeadWish): Leader;
  network(
    name: string,
    block?: object,
    more?: { readonly metadata?: object; readonly allocation?: object },
  ): Promise<KubeObject>;
  setStatus(resource: Resource, name: string, status: object): Promise<KubeObject>;
  configuration(name: string): Promise<KubeObject>;
  /** With its NetworkConfiguration, unless that is there. */
  allocation(name: string, wish?: AllocationWish): Promise<KubeObject>;
  get(name: string): Promise<KubeObject>;
  remove(object: KubeObject, resource?: Resource): Promise<void>;
  /** The status once it is Allocated. */
  served(name: string): Promise<Readonly<Record<string, unknown>>>;
  /** Waits until the phase is so. Returns the message. */
  says(name: string, phase: string, message?: RegExp): Promise<string>;
  untilGone(name: string): Promise<void>;
  records(): Promise<string[]>;
}

export async function startAllocationStage(): Promise<AllocationStage> {
  const cluster = await startLedgerCluster();
  const { server } = cluster;
  await installVitistackKinds(server);
  await applyManifests(server, 'vitistack-crds', 'rbac-vitistack.yaml');
  await kubectl(server, ['create', 'namespace', NAMESPACE]);
  const admin = clientOf(server);
  const ledger = openKubernetesLedger(cluster.controller());
  const at = (name: string) => ({ namespace: NAMESPACE, name });
  const get = (name: string) => sure(admin.get(IP_ALLOCATIONS, at(name)));
  const configuration = async (name: string) => {
    const found = await admin.get(NETWORK_CONFIGURATIONS, at(name));
    if (found.ok) return found.object;
    const made = await admin.create(NETWORK_CONFIGURATIONS, { metadata: at(name), spec: { name: name.slice(0, 32) } });
    return made.ok ? made.object : sure(admin.get(NETWORK_CONFIGURATIONS, at(name)));
  };

  return {
    cluster,
    admin,
    ledger,
    configuration,
    get,
    clear: async () => {
      for (const kind of [IP_ALLOCATIONS, NETWORK_CONFIGURATIONS, NETWORK_NAMESPACES, RESERVED_IPS]) {
        await removeAll(admin, kind);
      }
      await cluster.clear();
    },
    lead: (wish = {}) => startLeader(cluster, wish),
    network: async (name, block = {}, { metadata = {}, allocation = {} } = {}) => {
      const own = {
        ipv4CIDR: '10.0.2.0/24',
        ipv4Gateway: '10.0.2.1',
        vlanId: 100,
        dns: ['8.8.8.8', '8.8.4.4'],
        ...block,
      };
      const ipAllocation = { type: 'static', provider: 'static-ip-operator', static: own, ...allocation };
      const spec = { datacenterIdentifier: 'dc-01', supervisorIdentifier: 'sv-01', ipAllocation };
      return sure(admin.create(NETWORK_NAMESPACES, { metadata: { ...at(name), ...metadata }, spec }));
    },
    setStatus: (resource, name, status) => sure(admin.patch(resource, at(name), { status }, { subresource: 'status' })),
    allocation: async (name, { configuration: wanted = name, spec = {}, metadata = {} } = {}) => {
      await configuration(wanted);
      return sure(admin.create(IP_ALLOCATIONS, allocationOf(name, wanted, spec, metadata)));
    },
    remove: async ({ metadata: { name, uid } }, resource = IP_ALLOCATIONS) => {
      await sure(admin.delete(resource, { ...at(name), uid }));
    },
    served: (name) =>
      vi.waitFor(async () => {
        const { status } = await get(name);
        expect(status).toMatchObject({ phase: 'Allocated' });
        return status as Readonly<Record<string, unknown>>;
      }, PATIENCE),
    says: (name, phase, message = /./) =>
      vi.waitFor(async () => {
        const { status } = await get(name);
        expect(status).toMatchObject({ phase, message: expect.stringMatching(message) as string });
        return String((status as { message: string }).message);
      }, PATIENCE),
    untilGone: (name) =>
      vi.waitFor(async () => {
        expect(await admin.get(IP_ALLOCATIONS, at(name))).toMatchObject({ because: 'NotFound' });
      }, PATIENCE),
    records: async () => (await ledger.list({ limit: 5_000 })).map((record) => record.name),
    [Symbol.asyncDispose]: async () => {
      admin[Symbol.dispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

export function allocationOf(name: string, configuration: string, spec: object = {}, metadata: object = {}) {
  return {
    metadata: { namespace: NAMESPACE, name, ...metadata },
    spec: { networkNamespaceName: 'prod-network', networkConfigurationName: configuration, ...spec },
  };
}

function startLeader(cluster: LedgerCluster, wish: LeadWish): Leader {
  const stack = new AsyncDisposableStack();
  const told: EmittedEvent[] = [];
  const client = wish.client ?? cluster.controller();
  const views = stack.use(watchAsLeader(wish.viewClient ?? client));
  stack.use(
    serveVitistack({
      client,
      log: silent,
      ...views,
      now: wish.now ?? (() => new Date()),
      isLeader: wish.isLeader ?? (() => true),
      ledger: wish.ledger ?? openKubernetesLedger(client),
      events: { emit: (event) => void told.push(event) },
      rangeRules: { floor: wish.floor ?? 2 },
      providerSettings: { isStrict: false },
      isAdopted: async () => true,
      recordsMissingForMs: wish.recordsMissingForMs ?? (() => 0),
      lookEveryMs: 500,
    }),
  );
  return { told, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
