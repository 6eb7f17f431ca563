import { createHash } from 'node:crypto';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';

/** Marks endpoints that the controller made and deletes when their records are gone. Spiderpool's endpoints do not have it. */
export const PROJECTED = 'ipledger.io/projected';

/** What is kept of an endpoint: there are as many as pods, and their status is only compared. */
export interface SeenEndpoint {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly isProjected: boolean;
  readonly isTerminating: boolean;
  readonly finalizers: readonly string[];
  /** The uids of its owners. */
  readonly owners: readonly string[];
  /** See `digestOf`. */
  readonly digest: string;
}

const NONE: readonly string[] = [];

export function toSeenEndpoint({ metadata, status }: KubeObject): SeenEndpoint {
  const { uid, resourceVersion, annotations, deletionTimestamp, finalizers = NONE, ownerReferences } = metadata;
  return {
    uid,
    resourceVersion,
    isProjected: annotations?.[PROJECTED] === 'true',
    isTerminating: deletionTimestamp !== undefined,
    finalizers: finalizers.length === 0 ? NONE : finalizers,
    owners: uidsOf(ownerReferences),
    digest: digestOf(status),
  };
}

/** Equal for equal values, whatever the order of their fields. */
export function digestOf(value: unknown): string {
  return createHash('sha1')
    .update(JSON.stringify(value, inOrder) ?? '')
    .digest('base64');
}

function inOrder(_: string, value: unknown): unknown {
  return isMap(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

function uidsOf(owners: unknown): readonly string[] {
  if (!Array.isArray(owners) || owners.length === 0) return NONE;
  return owners.map((owner) => (isMap(owner) ? String(owner['uid']) : ''));
}
