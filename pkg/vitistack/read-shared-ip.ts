import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { toProvider } from './read-network-configuration.ts';

/** A ControlPlaneVirtualSharedIP: the virtual IP of a cluster's control plane. */
export interface SharedIp {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly createdAt: string;
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
  /** In lower case; empty if nobody is named. */
  readonly provider: string;
  readonly cluster: string;
  readonly networkNamespace: string;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Readonly<Record<string, unknown>>;
}

const LONGEST_NAME = 253;

/** Null for one that names no cluster or no NetworkNamespace: nothing can be made for it. */
export function readSharedIp({ metadata, spec: stored, status }: KubeObject): SharedIp | null {
  const { namespace, name, uid, resourceVersion, generation = 0, creationTimestamp = '' } = metadata;
  const spec = isMap(stored) ? stored : {};
  const cluster = readName(spec['clusterIdentifier']);
  const networkNamespace = readName(spec['networkNamespaceIdentifier']);
  if (namespace === undefined || cluster === '' || networkNamespace === '') return null;
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    generation,
    createdAt: creationTimestamp,
    finalizers: metadata.finalizers ?? [],
    isDeleting: metadata.deletionTimestamp !== undefined,
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
