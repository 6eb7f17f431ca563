/** Names of Cluster API's contract. */
export const CLUSTER_NAME_LABEL = 'cluster.x-k8s.io/cluster-name';
/** Paused while the annotation is there, whatever its value. */
export const PAUSED_ANNOTATION = 'cluster.x-k8s.io/paused';
/** `clusterctl move` sets it before it deletes an object at the source: the object lives on in another cluster. */
export const DELETE_FOR_MOVE = 'clusterctl.cluster.x-k8s.io/delete-for-move';

/** Divides the objects among several controllers of one cluster. */
export const WATCH_FILTER_LABEL = 'cluster.x-k8s.io/watch-filter';
/** On an object or on its CRD: it is moved. */
export const MOVE_LABEL = 'clusterctl.cluster.x-k8s.io/move';
/** On an object or on its CRD: it is moved, and with it what it owns. */
export const MOVE_HIERARCHY_LABEL = 'clusterctl.cluster.x-k8s.io/move-hierarchy';

/** Finalizers of our own domain, so that two providers never remove each other's. */
export const CLAIM_FINALIZER = 'ipledger.io/release-address';
export const ADDRESS_FINALIZER = 'ipledger.io/protect-address';
