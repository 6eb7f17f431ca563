import { SUBNET_ANNOTATIONS } from '#pkg/pool/annotation-keys.ts';
import type { PodObject } from './decode-pod.ts';
import { POD_MARKS } from './pod-marks.ts';

type Metadata = PodObject['metadata'];

const MARKS: readonly string[] = [...Object.values(POD_MARKS), ...SUBNET_ANNOTATIONS];

/**
 * The metadata that `decodePod` reads. Lists of all pods are trimmed while they arrive. What is not well formed stays as it
 * is, so that the decoder refuses it.
 */
export function trimPodMetadata(metadata: Metadata): Metadata {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, annotations, ownerReferences } = metadata;
  const marks = Object.entries(annotations ?? {}).filter(([key]) => MARKS.includes(key));
  return {
    name,
    uid,
    resourceVersion,
    ...(namespace === undefined ? {} : { namespace }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(marks.length === 0 ? {} : { annotations: Object.fromEntries(marks) }),
    ...(ownerReferences === undefined ? {} : { ownerReferences: trimOwners(ownerReferences) }),
  };
}

function trimOwners(owners: unknown): unknown {
  return Array.isArray(owners) ? owners.filter((owner) => !isMap(owner) || owner['controller'] === true) : owners;
}

/** The named fields of `spec` or `status`. */
export function pickFields(part: unknown, names: readonly string[]): unknown {
  if (!isMap(part)) return part;
  return Object.fromEntries(Object.entries(part).filter(([name]) => names.includes(name)));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
