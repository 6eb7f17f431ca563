import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { type NamespacedIdentity, readIdentity } from '#pkg/kube/objects/namespaced-identity.ts';
import { toProvider } from './read-network-configuration.ts';

/** A ControlPlaneVirtualSharedIP: the virtual IP of a cluster's control plane. */
export interface SharedIp extends NamespacedIdentity {
  /** In lower case; empty if none is named. */
  readonly provider: string;
  readonly cluster: string;
  readonly networkNamespace: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
}

const LONGEST_NAME = 253;

/** Null for one that names no cluster or no NetworkNamespace: nothing can be made for it. */
export function readSharedIp({ metadata, spec: stored, status }: KubeObject): SharedIp | null {
  const identity = readIdentity(metadata);
  const spec = isMap(stored) ? stored : {};
  const cluster = readName(spec['clusterIdentifier']);
  const networkNamespace = readName(spec['networkNamespaceIdentifier']);
  if (identity === null || cluster === '' || networkNamespace === '') return null;
  return {
    ...identity,
    provider: toProvider(spec['provider']),
    cluster,
    networkNamespace,
    spec,
    status: isMap(status) ? status : {},
  };
}

function readName(value: unknown): string {
  return typeof value === 'string' && value.length <= LONGEST_NAME ? value.trim() : '';
}
