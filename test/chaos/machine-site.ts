import type { ApiServer } from '#test/support/api-server.ts';
import { installCapi } from '#test/support/capi-crds.ts';
import { applyManifests } from '#test/support/manifests.ts';
import { installVitistackKinds } from '#test/support/vitistack-crds.ts';
import type { ChaosApi } from './chaos-api.ts';
import { poolObject, SPIDER } from './chaos-site.ts';
import { CLUSTERS, MACHINES, NETWORKS } from './machines.ts';

/** A pool that only claims use: fewer addresses than claims, so that some wait. Other claims share a pool with pods. */
export const CLAIM_POOL = 'machines';
const CLAIM_RANGE = '10.63.0.10-10.63.0.12';
export const CLUSTER_NAMES = ['blue', 'green'] as const;

interface Range {
  readonly first: string;
  readonly last: string;
}

/** The range of the first one lies in the pool of stateless pods, in the same domain; the other one is small and has no overlap. */
export const NETWORK_RANGES = {
  'shared-network': { first: '10.60.0.36', last: '10.60.0.67' },
  'small-network': { first: '10.64.0.10', last: '10.64.0.12' },
} as const satisfies Record<string, Range>;

export type NetworkName = keyof typeof NETWORK_RANGES;
export const NETWORK_NAMES = Object.keys(NETWORK_RANGES) as NetworkName[];

/** Cluster API and Vitistack, with two clusters, a pool, and two NetworkNamespaces. To be called before the controllers start. */
export async function installMachines(server: ApiServer, api: ChaosApi): Promise<void> {
  await installVitistackKinds(server);
  await applyManifests(server, 'vitistack-crds', 'rbac-vitistack.yaml');
  await installCapi(server);
  await api.create('/api/v1/namespaces', { metadata: { name: MACHINES } });
  await api.create(`${SPIDER}/spiderippools`, poolObject('SpiderIPPool', CLAIM_POOL, CLAIM_RANGE));
  for (const name of CLUSTER_NAMES) await api.create(CLUSTERS, clusterObject(name));
  for (const name of NETWORK_NAMES) await api.create(NETWORKS, networkObject(name));
}

function clusterObject(name: string): object {
  const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'TestCluster', name };
  return { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata: { name }, spec: { infrastructureRef } };
}

/** Its addresses are renewed every half minute. */
export function networkObject(name: NetworkName): object {
  const { first, last } = NETWORK_RANGES[name];
  const prefix = first.split('.').slice(0, 3).join('.');
  const block = {
    ipv4CIDR: `${prefix}.0/24`,
    ipv4Gateway: `${prefix}.1`,
    ipv4RangeStart: first,
    ipv4RangeEnd: last,
    ttlSeconds: 60,
  };
  const spec = { ipAllocation: { type: 'static', provider: 'static-ip-operator', static: block } };
  return { apiVersion: 'vitistack.io/v1alpha2', kind: 'NetworkNamespace', metadata: { name }, spec };
}
