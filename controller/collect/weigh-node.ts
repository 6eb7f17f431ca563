import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';

/**
 * What a pod's absence is worth on its node. `here`: its kubelet is at work, so the sandbox is gone too. `lost`: nothing
 * can run there any more. `away`: it may run on, unseen. `wait`: too early to say.
 */
export type NodeWeight =
  | { readonly node: 'here' | 'lost' | 'away' }
  | { readonly node: 'wait'; readonly why: 'node-unsure' | 'node-gone-lately'; readonly againInMs: number };

/** Nodes are given this much longer than a lease stays fresh to be seen renewing it by a new leader. */
const LOOK_MS = 20_000;

export function weighNode({ node: seen, nowMs }: Evidence, settings: CollectSettings): NodeWeight {
  const { node, goneSinceMs, renewedAtMs, lookedSinceMs } = seen;
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
