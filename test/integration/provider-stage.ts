import { expect, vi } from 'vitest';
import { serveVitistack } from '#controller/vitistack/serve-vitistack.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import {
  IP_ALLOCATIONS,
  NETWORK_CONFIGURATIONS,
  NETWORK_NAMESPACES,
  OLD_NETWORK_NAMESPACES,
} from '#pkg/kube/objects/vitistack-resources.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { installVitistackKinds } from '#test/support/vitistack-crds.ts';
import { clientOf } from './kube-things.ts';
import { silent, watchAsLeader } from './leader-views.ts';
import { type LedgerCluster, startLedgerCluster } from './ledger-cluster.ts';
import { removeAll, sure } from './spider-objects.ts';

export const NAMESPACE = 'default';
export const PATIENCE = { timeout: 30_000, interval: 50 };

interface ConfigurationWish {
  readonly interfaces?: readonly string[];
  readonly spec?: object;
  readonly metadata?: object;
}

type Status = Readonly<Record<string, unknown>>;

/** An API server with Vitistack's kinds, and the hands of its other operators and users. */
export interface ProviderStage extends AsyncDisposable {
  readonly cluster: LedgerCluster;
  readonly admin: KubeClient;
  readonly ledger: Ledger;
  clear(): Promise<void>;
  lead(): AsyncDisposable;
  network(name: string, block?: object): Promise<KubeObject>;
  configuration(name: string, wish?: ConfigurationWish): Promise<KubeObject>;
  get(kind: Resource, name: string): Promise<KubeObject | null>;
  remove(kind: Resource, name: string): Promise<void>;
  /** As another operator does it, who knows nothing of other writers. */
  replaceStatus(kind: Resource, name: string, status: Status): Promise<void>;
  statusOf(kind: Resource, name: string): Promise<Status>;
  /** Waits until the NetworkConfiguration is in that phase, and returns the addresses that it shows. */
  shows(name: string, phase: string): Promise<string[]>;
  allocations(): Promise<string[]>;
  /** `address holder` of every record. */
  records(): Promise<string[]>;
}

export async function startProviderStage({ isOld = false } = {}): Promise<ProviderStage> {
  const cluster = await startLedgerCluster();
  await installVitistackKinds(cluster.server, { isOld });
  await applyManifests(cluster.server, 'vitistack-crds', 'rbac-vitistack.yaml');
  const admin = clientOf(cluster.server);
  const ledger = openKubernetesLedger(cluster.controller());
  const networks = isOld ? OLD_NETWORK_NAMESPACES : NETWORK_NAMESPACES;

  const get = async (kind: Resource, name: string) => {
    const found = await admin.get(kind, { namespace: NAMESPACE, name });
    if (!found.ok && found.because !== 'NotFound') throw new Error(found.message);
    return found.ok ? found.object : null;
  };
  const statusOf = async (kind: Resource, name: string) => ((await get(kind, name))?.['status'] ?? {}) as Status;

  return {
    cluster,
    admin,
    ledger,
    clear: async () => {
      for (const kind of [NETWORK_CONFIGURATIONS, IP_ALLOCATIONS, networks]) await removeAll(admin, kind);
      await cluster.clear();
    },
    lead: () => {
      const stack = new AsyncDisposableStack();
      const client = cluster.controller();
      const views = stack.use(watchAsLeader(client));
      stack.use(
        serveVitistack({
          client,
          log: silent,
          now: () => new Date(),
          isLeader: () => true,
          ledger: openKubernetesLedger(client),
          events: { emit: () => {} },
          rangeRules: { floor: 2 },
          providerSettings: { isStrict: false },
          isAdopted: async () => true,
          lookEveryMs: 500,
          ...views,
        }),
      );
      return stack;
    },
    network: (name, block = {}) => {
      const own = { ipv4CIDR: '10.0.2.0/24', ipv4Gateway: '10.0.2.1', vlanId: 100, ...block };
      const identifiers = { datacenterIdentifier: 'dc-01', supervisorIdentifier: 'sv-01' };
      const spec = { ...identifiers, ipAllocation: { type: 'static', static: own } };
      return sure(admin.create(networks, { metadata: { namespace: NAMESPACE, name }, spec }));
    },
    configuration: (name, { interfaces = ['eth0'], spec = {}, metadata = {} } = {}) => {
      const networkInterfaces = interfaces.map((it, at) => ({ name: it, macAddress: `02:00:00:00:00:0${at}` }));
      return sure(
        admin.create(NETWORK_CONFIGURATIONS, {
          metadata: { namespace: NAMESPACE, name, ...metadata },
          spec: { name: 'vm', networkNamespaceName: 'prod-network', networkInterfaces, ...spec },
        }),
      );
    },
    get,
    remove: async (kind, name) => {
      const found = await get(kind, name);
      if (found !== null) await sure(admin.delete(kind, { namespace: NAMESPACE, name, uid: found.metadata.uid }));
    },
    replaceStatus: async (kind, name, status) => {
      const found = await get(kind, name);
      if (found === null) throw new Error(`${name} is gone`);
      await admin.update(kind, { ...found, status }, { subresource: 'status' });
    },
    statusOf,
    shows: (name, phase) =>
      vi.waitFor(async () => {
        const status = await statusOf(NETWORK_CONFIGURATIONS, name);
        expect(`${status['phase']}: ${status['message']}`).toContain(`${phase}: `);
        return shownIn(status);
      }, PATIENCE),
    allocations: async () => {
      const { items } = await sure(admin.list(IP_ALLOCATIONS));
      return items.map(({ metadata, status }) => {
        const { phase, address } = (status ?? {}) as { phase?: string; address?: string };
        return `${metadata.name} ${phase ?? 'none'} ${address ?? 'none'}`;
      });
    },
    records: async () => {
      const records = await ledger.list({ limit: 1_000 });
      return records.map(({ spec }) => `${spec.address} ${spec.holder.name}`);
    },
    [Symbol.asyncDispose]: async () => {
      admin[Symbol.dispose]();
      await cluster[Symbol.asyncDispose]();
    },
  };
}

export function shownIn(status: Status): string[] {
  const { networkInterfaces = [] } = status as { networkInterfaces?: { ipv4Addresses?: string[] }[] };
  return networkInterfaces.flatMap(({ ipv4Addresses = [] }) => ipv4Addresses);
}
