export interface PodLife {
  readonly phase: string;
  /** `deletionTimestamp`, which already contains the grace period; null while the pod is not being deleted. */
  readonly deletesAtMs: number | null;
}

/**
 * The phase alone decides, whatever the restartPolicy says: kubelet never takes a pod out of Succeeded or Failed. A pod that
 * its policy starts again stays Running meanwhile; with restartPolicy Always it becomes Failed only by an eviction, a
 * deadline, a node shutdown or a refused admission.
 */
export function isFinished({ phase }: Pick<PodLife, 'phase'>): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** The pod is not being deleted and has not finished: its sandbox exists, or will be made (again). */
export function isAlive(pod: PodLife): boolean {
  return pod.deletesAtMs === null && !isFinished(pod);
}

/** Completes "pod x is dead: …"; null for a pod that is alive. */
export function whyEnded(pod: PodLife & { readonly reason: string }): string | null {
  if (isAlive(pod)) return null;
  if (pod.deletesAtMs !== null) return 'it is being deleted';
  if (pod.phase === 'Succeeded') return 'it has succeeded';
  return pod.reason === 'Evicted' ? 'it was evicted' : 'it has failed';
}
