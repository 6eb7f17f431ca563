import { setTimeout as wait } from 'node:timers/promises';
import type { ClientOptions } from '#pkg/kube/client/caller.ts';
import { KubeClient } from '#pkg/kube/client/client.ts';
import { accessFrom } from '#pkg/kube/client/kube-config.ts';
import type { NewObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Access } from '#pkg/kube/transport/connection.ts';
import type { ApiServer } from '#test/support/api-server.ts';

/** A cluster scoped kind about the size of a record, so that the tests of the client need no other part. */
export const THINGS: Resource = { group: 'kube.test', version: 'v1', plural: 'things', kind: 'Thing' };
export const CONFIG_MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };
const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
};

const CRD: NewObject = {
  metadata: { name: `${THINGS.plural}.${THINGS.group}` },
  spec: {
    group: THINGS.group,
    names: { plural: THINGS.plural, singular: 'thing', kind: THINGS.kind },
    scope: 'Cluster',
    versions: [
      {
        name: THINGS.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: ['address', 'pool', 'state', 'node'].map((name) => ({
          name: name.toUpperCase(),
          type: 'string',
          jsonPath: `.spec.${name}`,
        })),
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

export function thing(name: string, spec: Readonly<Record<string, unknown>> = {}): NewObject {
  return { metadata: { name }, spec: { address: name, pool: 'pool-a', state: 'Allocated', node: 'node-1', ...spec } };
}

export function clientOf(server: Pick<ApiServer, 'kubeconfigFile'>, options: Partial<ClientOptions> = {}): KubeClient {
  return new KubeClient(accessFrom({ from: 'kubeconfig', file: server.kubeconfigFile }), {
    userAgent: 'test',
    ...options,
  });
}

/** The admin's access, through a proxy or another server of the same certificate. */
export async function accessAt(server: Pick<ApiServer, 'kubeconfigFile'>, port: number): Promise<Access> {
  const access = await accessFrom({ from: 'kubeconfig', file: server.kubeconfigFile })();
  return { ...access, origin: `https://127.0.0.1:${port}` };
}

export function portOf({ url }: Pick<ApiServer, 'url'>): number {
  return Number(new URL(url).port);
}

export async function installThings(client: KubeClient): Promise<void> {
  await client.create(CRDS, CRD);
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await client.list(THINGS)).ok) return;
    await wait(100);
  }
  throw new Error('the CRD of the tests is not served');
}
