import type { KubeObject } from './kube-object.ts';

/** What others write on pods, and decides who a pod is. */
export const POD_MARKS = {
  /** On the mirror of a static pod, by kubelet: the UID of that one. */
  mirror: 'kubernetes.io/config.mirror',
  /** On the pod that a virtual machine moves to, by KubeVirt. */
  migrationJob: 'kubevirt.io/migrationJobName',
} as const;

/** The UID that the runtime calls a pod by: that of a mirror pod changes while the static pod behind it runs on. */
export function runtimeUid({ uid, annotations }: KubeObject['metadata']): string {
  return annotations?.[POD_MARKS.mirror] || uid;
}
