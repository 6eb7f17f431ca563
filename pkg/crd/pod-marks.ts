import type { PodObject } from './decode-pod.ts';

/** Annotations that other components write on pods and that decide which pod or VMI a pod stands for. */
export const POD_MARKS = {
  /** The kubelet writes the UID of a static pod on its mirror pod. */
  mirror: 'kubernetes.io/config.mirror',
  /** KubeVirt writes it on the pod that a VMI migrates to. */
  migrationJob: 'kubevirt.io/migrationJobName',
} as const;

/** The UID that the runtime passes. The UID of a mirror pod changes while the static pod behind it runs on. */
export function runtimeUid({ uid, annotations }: PodObject['metadata']): string {
  return annotations?.[POD_MARKS.mirror] || uid;
}
