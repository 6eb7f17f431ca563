import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';

export const NODE_LEASES = 'kube-node-lease';

export interface NodeFacts {
  readonly isReady: boolean;
  /** The taint `out-of-service`: an operator states that nothing runs on the node. */
  readonly isOutOfService: boolean;
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

export function trimNode({ metadata, spec, status }: KubeObject): KubeObject {
  const { name, uid, resourceVersion } = metadata;
  const taints = isMap(spec) ? spec['taints'] : undefined;
  const conditions = isMap(status) ? listOf(status['conditions']).filter(isReadyCondition) : [];
  return { metadata: { name, uid, resourceVersion }, spec: { taints }, status: { conditions } };
}

/** Only the status True means ready; False, Unknown and a missing condition do not. */
export function toNodeFacts({ spec, status }: KubeObject): NodeFacts {
  const conditions = isMap(status) ? listOf(status['conditions']) : [];
  const taints = isMap(spec) ? listOf(spec['taints']) : [];
  return {
    isReady: conditions.some((it) => isReadyCondition(it) && isMap(it) && it['status'] === 'True'),
    isOutOfService: taints.some((taint) => isMap(taint) && taint['key'] === OUT_OF_SERVICE),
  };
}

function isReadyCondition(condition: unknown): boolean {
  return isMap(condition) && condition['type'] === 'Ready';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
