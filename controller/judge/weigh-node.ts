import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';

/**
 * What the end of a pod is worth on its node. `attended`: the node is well, and its Ready agent had its time to release
 * the record and did not, so the sandbox may be there. `unattended`: the node is well and has had no Ready agent for long.
 * `away`: the node does not report. `lost`: nothing can run there any more. `nowhere`: the record names no node. `wait`: too
 * early to say.
 */
export type NodeWeight =
  | { readonly node: 'attended' | 'unattended' | 'away' | 'lost' | 'nowhere' }
  | {
      readonly node: 'wait';
      readonly why: 'node-unsure' | 'node-gone-lately' | 'agent-away-lately' | 'left-to-agent' | 'within-grace';
      readonly againInMs: number;
    };

/** Nodes are given this much longer than a lease stays fresh to be seen renewing it by a new leader. */
const LOOK_MS = 20_000;
/** What a kubelet may need beside the grace, to hear that a pod is gone and to take its sandbox down. */
const STOP_MS = 30_000;

export function weighNode({ spec }: IpRecord, evidence: Evidence, settings: CollectSettings): NodeWeight {
  if (spec.holder.node === '') return { node: 'nowhere' };
  const { node: seen, nowMs } = evidence;
  const { node, goneSinceMs, lease, lookedSinceMs } = seen;
  const renewedAtMs = lease?.renewedAtMs ?? null;
  if (node === null) {
    const leftMs = (goneSinceMs ?? nowMs) + settings.nodeGoneMs - nowMs;
    return leftMs <= 0 ? { node: 'lost' } : { node: 'wait', why: 'node-gone-lately', againInMs: leftMs };
  }
  if (node.isOutOfService) return { node: 'lost' };
  if (!node.isReady) return { node: 'away' };
  if (renewedAtMs !== null) {
    return nowMs - renewedAtMs <= settings.leaseFreshMs ? weighAgent(evidence, settings) : { node: 'away' };
  }
  const leftMs = lookedSinceMs + settings.leaseFreshMs + LOOK_MS - nowMs;
  return leftMs <= 0 ? { node: 'away' } : { node: 'wait', why: 'node-unsure', againInMs: Math.min(leftMs, 5_000) };
}

/** The node is well: its own agent decides, and is given the time for it. A rollout of the agents is no absence. */
function weighAgent(evidence: Evidence, settings: CollectSettings): NodeWeight {
  const { nowMs, agent } = evidence;
  const wellMs = wellSinceMs(evidence);
  if (agent.readySinceMs === null) {
    const leftMs = Math.max(agent.awaySinceMs ?? nowMs, wellMs) + settings.agentAwayMs - nowMs;
    return leftMs <= 0 ? { node: 'unattended' } : { node: 'wait', why: 'agent-away-lately', againInMs: leftMs };
  }
  const leftMs = Math.max(agent.readySinceMs, wellMs) + settings.settleMs + settings.additionalDelayMs - nowMs;
  return leftMs <= 0 ? { node: 'attended' } : { node: 'wait', why: 'left-to-agent', againInMs: leftMs };
}

/**
 * The same for a pod whose object is gone. Its kubelet hears of that, at the latest when the node is back, and stops the
 * pod then, with its grace.
 */
export function weighAbsence(record: IpRecord, evidence: Evidence, settings: CollectSettings): NodeWeight {
  const weight = weighNode(record, evidence, settings);
  const { nowMs, goneSinceMs, graceMs } = evidence;
  if (graceMs === null || (weight.node !== 'attended' && weight.node !== 'unattended')) return weight;
  const toldAtMs = Math.max(wellSinceMs(evidence), goneSinceMs ?? nowMs);
  const leftMs = toldAtMs + graceMs + STOP_MS + settings.additionalDelayMs - nowMs;
  return leftMs <= 0 ? weight : { node: 'wait', why: 'within-grace', againInMs: leftMs };
}

function wellSinceMs({ nowMs, node }: Evidence): number {
  return Math.max(node.readySinceMs ?? nowMs, node.lease?.steadySinceMs ?? nowMs);
}
