import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { type NamespacedIdentity, readIdentity } from '#pkg/kube/objects/namespaced-identity.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { CLUSTER_NAME_LABEL, DELETE_FOR_MOVE, PAUSED_ANNOTATION } from './contract-names.ts';

/** An IPAddressClaim for one of our pools. */
export interface Claim extends NamespacedIdentity {
  readonly isPaused: boolean;
  /** It is deleted here because it was moved to another management cluster, with its address. */
  readonly isMovedAway: boolean;
  /** From `spec.clusterName`, else from the label; null if it belongs to no cluster. */
  readonly cluster: string | null;
  readonly pool: string;
  /** `status.addressRef.name`. */
  readonly addressName: string | null;
  /** `status.conditions` as they are stored, of whatever shape. */
  readonly conditions: unknown;
}

const LONGEST_NAME = 253;

/** Null for a claim of another provider's pool, and for one that cannot be read: neither is touched. */
export function readClaim({ metadata, spec, status }: KubeObject): Claim | null {
  const identity = readIdentity(metadata);
  const { annotations = {} } = metadata;
  const pool = isMap(spec) ? readPoolRef(spec['poolRef']) : null;
  if (identity === null || pool === null) return null;
  const { addressRef, conditions } = isMap(status) ? status : {};
  return {
    ...identity,
    isPaused: Object.hasOwn(annotations, PAUSED_ANNOTATION),
    isMovedAway: Object.hasOwn(annotations, DELETE_FOR_MOVE),
    cluster: readName(isMap(spec) ? spec['clusterName'] : null) ?? readName(metadata.labels?.[CLUSTER_NAME_LABEL]),
    pool,
    addressName: isMap(addressRef) ? readName(addressRef['name']) : null,
    conditions,
  };
}

/** The name of the pool, if group and kind are exactly ours; an empty group is not. */
export function readPoolRef(value: unknown): string | null {
  if (!isMap(value)) return null;
  const { apiGroup, kind, name } = value;
  return apiGroup === POOLS.group && kind === POOLS.kind ? readName(name) : null;
}

/** Null for everything but a text that can be a name. */
export function readName(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST_NAME ? value : null;
}
