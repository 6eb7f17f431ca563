import type { NodePod } from '#agent/sources/pods.ts';
import { type DecodedPod, decodePod, type PodObject } from '#pkg/crd/decode-pod.ts';
import { whyEnded } from '#pkg/crd/pod-life.ts';
import { POD_MARKS } from '#pkg/crd/pod-marks.ts';
import { MULTUS_ANNOTATIONS } from '#pkg/pool/annotation-keys.ts';
import type { Labels } from '#pkg/pool/request.ts';

/** A pod, and the UID of its object: the object of a mirror pod is replaced while the static pod behind it runs on. */
export interface SeenPod {
  readonly facts: NodePod;
  readonly objectUid: string;
}

/** The other annotations, above all last-applied-configuration, are large and not read. */
const KEPT: readonly string[] = [...Object.values(POD_MARKS), ...Object.values(MULTUS_ANNOTATIONS)];

/** Throws like `decodePod`. */
export function toSeenPod(object: PodObject): SeenPod {
  const pod = decodePod(object);
  const { labels = {}, annotations = {}, resourceVersion } = object.metadata;
  const endedBecause = whyEnded(pod);
  const facts: NodePod = {
    namespace: pod.namespace,
    name: pod.name,
    uid: pod.uid,
    resourceVersion,
    node: pod.node,
    labels,
    annotations: keepAnnotations(annotations),
    controller: pod.controller,
    isAlive: endedBecause === null,
    hadSandbox: pod.podIPs.length > 0,
    ...(endedBecause === null ? {} : { endedBecause }),
    ...(pod.deletesAtMs === null ? {} : { deletesAtMs: pod.deletesAtMs }),
    ...(isStatic(pod) ? { isStatic: true } : {}),
  };
  return { facts, objectUid: pod.objectUid };
}

/** Kubelet owns the mirror of a static pod through its Node. */
function isStatic({ uid, objectUid, controller }: DecodedPod): boolean {
  return uid !== objectUid || (controller?.apiVersion === 'v1' && controller.kind === 'Node');
}

function keepAnnotations(annotations: Labels): Labels {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => key.startsWith('ipam.spidernet.io/') || KEPT.includes(key)),
  );
}
