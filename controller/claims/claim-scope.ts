import { WATCH_FILTER_LABEL } from '#pkg/capi/contract-names.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';

/** Which claims this controller serves, where several share a cluster; null: whatever the value. */
export interface ClaimScope {
  readonly namespace: string | null;
  /** The value of the label `cluster.x-k8s.io/watch-filter`. */
  readonly watchFilter: string | null;
}

/** IPAddresses have their records in any scope: their numbers are in use. */
export function isInScope({ metadata }: Pick<KubeObject, 'metadata'>, { namespace, watchFilter }: ClaimScope): boolean {
  if (namespace !== null && metadata.namespace !== namespace) return false;
  return watchFilter === null || metadata.labels?.[WATCH_FILTER_LABEL] === watchFilter;
}
