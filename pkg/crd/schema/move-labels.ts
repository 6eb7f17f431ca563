/** `clusterctl move` looks at the kinds whose CRD has this label. Which of their objects it takes along is a label of the object. */
export const SEEN_BY_MOVE = { 'clusterctl.cluster.x-k8s.io': '' };
/** It takes along every object of the kind. */
export const TAKEN_BY_MOVE = { ...SEEN_BY_MOVE, 'clusterctl.cluster.x-k8s.io/move': '' };
