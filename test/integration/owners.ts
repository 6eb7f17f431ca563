import { vi } from 'vitest';
import { callApi } from '#test/support/api-request.ts';
import type { PodCluster } from './pod-cluster.ts';

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

const KINDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const KUBEVIRT = {
  virtualmachineinstances: 'VirtualMachineInstance',
  virtualmachines: 'VirtualMachine',
  virtualmachineinstancemigrations: 'VirtualMachineInstanceMigration',
} as const;
type Plural = keyof typeof KUBEVIRT;

export const setPath = (name = '', namespace = 'default') =>
  `/apis/apps/v1/namespaces/${namespace}/statefulsets${name === '' ? '' : `/${name}`}`;
export const kubevirtPath = (plural: Plural, name = '') =>
  `/apis/kubevirt.io/v1/namespaces/default/${plural}${name === '' ? '' : `/${name}`}`;

/** No controller manager runs: the test plays it, and creates the pods that the set wants, or others. */
export async function createSet(cluster: PodCluster, name: string, replicas: number): Promise<Owner> {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'main' }] } };
  const spec = { replicas, serviceName: name, selector: { matchLabels: labels }, template };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    ...(await create(cluster, setPath(), { metadata: { name }, spec })),
  };
}

/** Stubs of KubeVirt's kinds: any object is accepted. */
export async function installKubevirt(cluster: PodCluster): Promise<void> {
  for (const [plural, kind] of Object.entries(KUBEVIRT)) await cluster.post(KINDS, kindOf(plural, kind));
  const { server } = cluster.ledger;
  for (const plural of Object.keys(KUBEVIRT) as Plural[]) {
    const isServed = async () =>
      (await callApi(server, { path: kubevirtPath(plural), token: server.adminToken })).status === 200;
    await vi.waitUntil(isServed, { timeout: 60_000, interval: 200 });
  }
}

export async function createKubevirt(cluster: PodCluster, plural: Plural, name: string, more = {}): Promise<Owner> {
  const kind = { apiVersion: 'kubevirt.io/v1', kind: KUBEVIRT[plural] };
  return { ...kind, ...(await create(cluster, kubevirtPath(plural), { ...kind, metadata: { name }, ...more })) };
}

async function create(cluster: PodCluster, path: string, body: object): Promise<{ name: string; uid: string }> {
  const { metadata } = await cluster.post<{ metadata: { name: string; uid: string } }>(path, body);
  return { name: metadata.name, uid: metadata.uid };
}

function kindOf(plural: string, kind: string) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.kubevirt.io` },
    spec: {
      group: 'kubevirt.io',
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
