import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';

/**
 * What a pod's absence is worth on its node. `here`: its kubelet is at work, so the sandbox is gone too. `lost`: nothing
 * can run there any more. `away`: it may run on, unseen. `wait`: too early to say.
 */
export type NodeWeight =
  | { readonly node: 'here' | 'lost' | 'away' }
  | {
      readonly node: 'wait';
      readonly why: 'node-unsure' | 'node-gone-lately' | 'node-back-lately' | 'within-grace';
      readonly againInMs: number;
    };

/** Nodes are given this much longer than a lease stays fresh to be seen renewing it by a new leader. */
const LOOK_MS = 20_000;
/** What a kubelet may need beside the grace, to hear that a pod is gone and to take its sandbox down. */
const STOP_MS = 30_000;

export function weighNode({ node: seen, nowMs }: Evidence, settings: CollectSettings): NodeWeight {
  const { node, goneSinceMs, lease, lookedSinceMs } = seen;
  const renewedAtMs = lease?.renewedAtMs ?? null;
  if (node === null) {
    const leftMs = (goneSinceMs ?? nowMs) + settings.nodeGoneMs - nowMs;
    return leftMs <= 0 ? { node: 'lost' } : { node: 'wait', why: 'node-gone-lately', againInMs: leftMs };
  }
  if (node.isOutOfService) return { node: 'lost' };
  if (!node.isReady) return { node: 'away' };
  if (renewedAtMs !== null) return { node: nowMs - renewedAtMs <= settings.leaseFreshMs ? 'here' : 'away' };
  const leftMs = lookedSinceMs + settings.leaseFreshMs + LOOK_MS - nowMs;
  return leftMs <= 0 ? { node: 'away' } : { node: 'wait', why: 'node-unsure', againInMs: Math.min(leftMs, 5_000) };
}

/**
 * The same for a pod whose object is gone. A kubelet that was cut off hears of that when it is back, and stops the pod
 * then, with its grace: only what it has had time for is done.
 */
export function weighAbsence(evidence: Evidence, settings: CollectSettings): NodeWeight {
  const weight = weighNode(evidence, settings);
  if (weight.node !== 'here') return weight;
  const { nowMs, node, goneSinceMs, graceMs } = evidence;
  const wellSinceMs = Math.max(node.readySinceMs ?? nowMs, node.lease?.steadySinceMs ?? nowMs);
  const leftMs = wellSinceMs + settings.settleMs + settings.additionalDelayMs - nowMs;
  if (leftMs > 0) return { node: 'wait', why: 'node-back-lately', againInMs: leftMs };
  if (graceMs === null) return weight;
  const toldAtMs = Math.max(wellSinceMs, goneSinceMs ?? nowMs);
  const graceLeftMs = toldAtMs + graceMs + STOP_MS + settings.additionalDelayMs - nowMs;
  return graceLeftMs <= 0 ? weight : { node: 'wait', why: 'within-grace', againInMs: graceLeftMs };
}
