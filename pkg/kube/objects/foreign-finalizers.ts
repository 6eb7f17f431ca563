/** Set by Kubernetes' garbage collector, which waits for us: waiting for it would never end. */
const OF_KUBERNETES = ['foregroundDeletion', 'orphan'];

/** The finalizers by which other controllers say that the object is still in use. */
export function foreignFinalizers(finalizers: readonly string[], own: string): readonly string[] {
  return finalizers.filter((it) => it !== own && !OF_KUBERNETES.includes(it));
}
