import { isMap, type KubeObject } from './kube-object.ts';

/** What others write on pods, and decides who a pod is. */
export const POD_MARKS = {
  /** On the mirror of a static pod, by kubelet: the UID of that one. */
  mirror: 'kubernetes.io/config.mirror',
  /** On the pod that a virtual machine moves to, by KubeVirt. */
  migrationJob: 'kubevirt.io/migrationJobName',
} as const;
const MARKS: readonly string[] = Object.values(POD_MARKS);

/** The UID that the runtime calls a pod by: that of a mirror pod changes while the static pod behind it runs on. */
export function runtimeUid({ uid, annotations }: KubeObject['metadata']): string {
  return annotations?.[POD_MARKS.mirror] || uid;
}

/** Of a large list: who a pod is, who controls it, and whether it is to end. */
export function trimPodMetadata(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, annotations, ownerReferences } = metadata;
  const marks = Object.entries(annotations ?? {}).filter(([key]) => MARKS.includes(key));
  const owners = Array.isArray(ownerReferences) ? ownerReferences : [];
  return {
    name,
    uid,
    resourceVersion,
    ...(namespace === undefined ? {} : { namespace }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(marks.length === 0 ? {} : { annotations: Object.fromEntries(marks) }),
    ownerReferences: owners.filter((owner) => isMap(owner) && owner['controller'] === true),
  };
}
