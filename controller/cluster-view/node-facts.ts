import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { isOutOfService } from '#pkg/kube/objects/out-of-service.ts';

export const NODE_LEASES = 'kube-node-lease';

export interface NodeFacts {
  readonly isReady: boolean;
  /** The taint `out-of-service`: an operator states that nothing runs on the node. */
  readonly isOutOfService: boolean;
}

export function trimNode({ metadata, spec, status }: KubeObject): KubeObject {
  const { name, uid, resourceVersion } = metadata;
  const taints = isMap(spec) ? spec['taints'] : undefined;
  const conditions = isMap(status) ? listOf(status['conditions']).filter(isReadyCondition) : [];
  return { metadata: { name, uid, resourceVersion }, spec: { taints }, status: { conditions } };
}

/** Only the status True means ready; False, Unknown and a missing condition do not. */
export function toNodeFacts(node: KubeObject): NodeFacts {
  const { status } = node;
  const conditions = isMap(status) ? listOf(status['conditions']) : [];
  return {
    isReady: conditions.some((it) => isReadyCondition(it) && isMap(it) && it['status'] === 'True'),
    isOutOfService: isOutOfService(node),
  };
}

function isReadyCondition(condition: unknown): boolean {
  return isMap(condition) && condition['type'] === 'Ready';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
