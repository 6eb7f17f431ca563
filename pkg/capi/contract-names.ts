/** Names of Cluster API's contract. */
export const CLUSTER_NAME_LABEL = 'cluster.x-k8s.io/cluster-name';
/** Paused while the annotation is there, whatever its value. */
export const PAUSED_ANNOTATION = 'cluster.x-k8s.io/paused';
/** `clusterctl move` sets it before it deletes an object at the source: the object lives on in another cluster. */
export const DELETE_FOR_MOVE = 'clusterctl.cluster.x-k8s.io/delete-for-move';

/** Finalizers of our own domain, so that two providers never remove each other's. */
export const CLAIM_FINALIZER = 'ipledger.io/release-address';
export const ADDRESS_FINALIZER = 'ipledger.io/protect-address';

/** Set by Kubernetes' garbage collector, which waits for us: waiting for it would never end. */
const OF_KUBERNETES = ['foregroundDeletion', 'orphan'];

/** The finalizers by which somebody else says that the object is still in use. */
export function foreignFinalizers(finalizers: readonly string[], own: string): readonly string[] {
  return finalizers.filter((it) => it !== own && !OF_KUBERNETES.includes(it));
}
