import type { ObjectMeta } from './kube-object.ts';

/** What every reader of a namespaced kind keeps of the metadata. */
export interface NamespacedIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** RFC 3339 in whole seconds, as the API server writes it. */
  readonly createdAt: string;
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
}

/** Null for an object without a namespace. */
export function readIdentity(metadata: ObjectMeta): NamespacedIdentity | null {
  const { namespace, name, uid, resourceVersion, generation = 0, creationTimestamp = '', finalizers = [] } = metadata;
  if (namespace === undefined) return null;
  const isDeleting = metadata.deletionTimestamp !== undefined;
  return { namespace, name, uid, resourceVersion, generation, createdAt: creationTimestamp, finalizers, isDeleting };
}
