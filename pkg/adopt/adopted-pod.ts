import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { runtimeUid, trimPodMetadata } from '#pkg/kube/objects/pod-marks.ts';
import type { Holder } from '#pkg/record/ip-record.ts';

/** What an adoption reads of a pod. */
export interface AdoptedPod {
  /** The UID the runtime calls it by: for a mirror pod that of the static pod behind it. */
  readonly uid: string;
  /** Empty while it is not scheduled: then it has no sandbox, and no address. */
  readonly node: string;
  /** The owner that controls it, as its own metadata says. */
  readonly owner: NonNullable<Holder['owner']> | null;
}

/** Of a large list: only what `toAdoptedPod` reads. */
export function trimAdoptedPod({ metadata, spec }: KubeObject): KubeObject {
  return {
    metadata: trimPodMetadata(metadata),
    spec: { nodeName: isMap(spec) ? spec['nodeName'] : undefined },
  };
}

export function toAdoptedPod({ metadata, spec }: KubeObject): AdoptedPod {
  const references = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences.filter(isMap) : [];
  const controller = references.find((it) => it['controller'] === true);
  const node = isMap(spec) ? spec['nodeName'] : undefined;
  return {
    uid: runtimeUid(metadata),
    node: typeof node === 'string' ? node : '',
    owner: ownerIn(controller),
  };
}

function ownerIn(reference: Readonly<Record<string, unknown>> | undefined): AdoptedPod['owner'] {
  const { apiVersion, kind, name } = reference ?? {};
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string') return null;
  return { apiVersion, kind, name };
}
