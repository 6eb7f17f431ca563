import { isMap, type KubeObject } from './kube-object.ts';

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** An operator's statement that nothing runs on the node any more (rule 6). */
export function isOutOfService({ spec }: KubeObject): boolean {
  const taints = isMap(spec) ? spec['taints'] : undefined;
  return Array.isArray(taints) && taints.some((taint) => isMap(taint) && taint['key'] === OUT_OF_SERVICE);
}
