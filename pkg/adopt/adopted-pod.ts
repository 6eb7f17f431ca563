import { decodePod } from '#pkg/crd/decode-pod.ts';
import { pickFields, trimPodMetadata } from '#pkg/crd/trim-pod.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Holder } from '#pkg/record/ip-record.ts';

/** What an adoption keeps of a pod. */
export interface AdoptedPod {
  /** The UID that the runtime passes; for a mirror pod it is the UID of the static pod. */
  readonly uid: string;
  /** Empty while the pod is not scheduled: then it has no sandbox and no address. */
  readonly node: string;
  /** The owner that controls it, as its own metadata says. */
  readonly owner: NonNullable<Holder['owner']> | null;
}

/** Keeps of a pod in a large list only what `toAdoptedPod` reads. */
export function trimAdoptedPod({ metadata, spec }: KubeObject): KubeObject {
  return { metadata: trimPodMetadata(metadata), spec: pickFields(spec, ['nodeName']) };
}

/** Throws like `decodePod`. */
export function toAdoptedPod(object: KubeObject): AdoptedPod {
  const { uid, node, controller } = decodePod(object);
  if (controller === null) return { uid, node, owner: null };
  const { apiVersion, kind, name } = controller;
  return { uid, node, owner: { apiVersion, kind, name } };
}
