import { callApi } from './api-request.ts';
import type { ServerPlace } from './api-server.ts';
import { waitUntilServed } from './manifests.ts';
import { CONFIGURATION_SCHEMA, SHARED_IP_SCHEMA } from './vitistack-configuration-schema.ts';
import { NEW_NAMESPACE_SCHEMA, OLD_NAMESPACE_SCHEMA } from './vitistack-namespace-schema.ts';

const GROUP = 'vitistack.io';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Version {
  readonly name: 'v1alpha1' | 'v1alpha2';
  readonly schema: object;
}

interface VitistackKind {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  /** The last one is stored. */
  readonly versions: readonly [Version, ...Version[]];
}

interface VitistackWish {
  /** As an old installation has it: NetworkNamespaces of v1alpha1 only. */
  readonly isOld?: boolean;
  readonly withSharedIps?: boolean;
}

const OLD_NAMESPACES = { name: 'v1alpha1', schema: OLD_NAMESPACE_SCHEMA } as const;
const NEW_NAMESPACES = { name: 'v1alpha2', schema: NEW_NAMESPACE_SCHEMA } as const;

/**
 * Installs the kinds that Vitistack itself brings: names, fields and bounds of its CRDs. Its conversion webhook is not there: both
 * versions of a NetworkNamespace show the fields that both have.
 */
export async function installVitistackKinds(server: ServerPlace, wish: VitistackWish = {}): Promise<void> {
  const { isOld = false, withSharedIps = true } = wish;
  const namespaces: VitistackKind = {
    kind: 'NetworkNamespace',
    plural: 'networknamespaces',
    shortName: 'nn',
    versions: isOld ? [OLD_NAMESPACES] : [OLD_NAMESPACES, NEW_NAMESPACES],
  };
  for (const kind of [namespaces, CONFIGURATIONS, ...(withSharedIps ? [SHARED_IPS] : [])]) await install(server, kind);
}

const CONFIGURATIONS: VitistackKind = {
  kind: 'NetworkConfiguration',
  plural: 'networkconfigurations',
  shortName: 'nc',
  versions: [{ name: 'v1alpha1', schema: CONFIGURATION_SCHEMA }],
};

const SHARED_IPS: VitistackKind = {
  kind: 'ControlPlaneVirtualSharedIP',
  plural: 'controlplanevirtualsharedips',
  shortName: 'lb',
  versions: [{ name: 'v1alpha1', schema: SHARED_IP_SCHEMA }],
};

async function install(server: ServerPlace, { kind, plural, shortName, versions }: VitistackKind): Promise<void> {
  const stored = versions.at(-1);
  const body = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames: [shortName] },
      versions: versions.map(({ name, schema }) => ({
        name,
        served: true,
        storage: name === stored?.name,
        subresources: { status: {} },
        schema: { openAPIV3Schema: schema },
      })),
    },
  };
  const { status, body: answer } = await callApi(server, {
    method: 'POST',
    path: CRDS,
    body,
    token: server.adminToken,
  });
  if (status !== 201) throw new Error(`the CRD ${plural} was refused: ${status} ${JSON.stringify(answer)}`);
  for (const { name } of versions) await waitUntilServed(server, `/apis/${GROUP}/${name}/${plural}`);
}
