import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { type Cause, keep, type Verdict } from './verdict.ts';
import { type NodeWeight, weighAbsence, weighNode } from './weigh-node.ts';

/** How often the owner of a kept address is asked between two sweeps. */
const MOST_QUESTIONS = 4;

/**
 * The pod object is gone and no owner will create it again. That alone proves nothing: the pod may have been deleted by
 * force, and its sandbox may still answer. Only the loss of its node frees, or that no node is known at all.
 */
export function judgeGone(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  if (isProvenGone(record)) return { do: 'free', cause: 'pod-gone' };
  const weight = weighAbsence(record, evidence, settings);
  if (record.spec.state === 'Suspect' && isWeak(weight)) return doubt(record, 'pod-gone', weight);
  const { nowMs, goneSinceMs, firstSeenMs } = evidence;
  if (goneSinceMs === null) return { do: 'read-pod' };
  const leftMs = Math.max(goneSinceMs, firstSeenMs) + settings.settleMs + settings.additionalDelayMs - nowMs;
  if (leftMs > 0) return keep('settling', leftMs);
  if (weight.node === 'wait') return keep(weight.why, weight.againInMs);
  if (weight.node === 'lost') return { do: 'free', cause: 'node-gone' };
  return weight.node === 'nowhere' ? { do: 'free', cause: 'pod-gone' } : doubt(record, 'pod-gone', weight);
}

/** A static pod runs without its API object: whatever became of that, its DEL, its own agent or the loss of its node frees. */
export function judgeStatic(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const weight = weighNode(record, evidence, settings);
  if (weight.node === 'lost') return { do: 'free', cause: 'node-gone' };
  const isGoing = weight.node === 'wait' && weight.why === 'node-gone-lately';
  return isGoing ? keep(weight.why, weight.againInMs) : keep('static-pod');
}

/**
 * The owner says no for the first time: it may be put back in a moment, as after a restore or with its kind. Null: it has
 * said so for long enough.
 */
export function awaitOwner({ nowMs, ownerAbsentSinceMs }: Evidence, { settleMs }: CollectSettings): Verdict | null {
  const leftMs = (ownerAbsentSinceMs ?? nowMs) + settleMs - nowMs;
  return leftMs > 0 ? keep('settling', leftMs) : null;
}

/** Retained, or Suspect, for a holder that runs again and does not come for it: its pools have changed, or its interfaces. */
export function judgeNotTaken(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const { nowMs, idleSinceMs, firstSeenMs } = evidence;
  if (idleSinceMs === null) return keepForNext(evidence, settings);
  const leftMs = Math.max(idleSinceMs, firstSeenMs) + settings.notTakenMs - nowMs;
  if (leftMs > 0) return keep('retained', leftMs);
  if (isProvenGone(record)) return { do: 'free', cause: 'not-taken' };
  const weight = weighAbsence(record, evidence, settings);
  if (weight.node === 'wait') return keep(weight.why, weight.againInMs);
  return isWeak(weight) ? doubt(record, 'not-taken', weight) : { do: 'free', cause: 'not-taken' };
}

/**
 * A namespace that is deleted may lose the owner after the pod, and owners are not watched. So the owner is read again with growing
 * pauses, and after that by each sweep.
 */
function keepForNext({ nowMs, firstSeenMs }: Evidence, { settleMs }: CollectSettings): Verdict {
  const ageMs = Math.max(0, nowMs - firstSeenMs);
  const asked = ageMs < settleMs ? 0 : Math.floor(Math.log2(ageMs / settleMs)) + 1;
  return asked < MOST_QUESTIONS ? keep('retained', settleMs * 2 ** asked - ageMs) : keep('retained');
}

/** Weak evidence. What is Suspect already waits for its node's agent, for a taker with a probe, or for the loss of its node. */
export function doubt({ spec }: IpRecord, cause: Cause, { node }: NodeWeight): Verdict {
  if (spec.state !== 'Suspect') return { do: 'suspect', cause };
  return keep(node === 'attended' ? 'left-to-agent' : 'node-away');
}

function isWeak({ node }: NodeWeight): boolean {
  return node === 'attended' || node === 'unattended' || node === 'away';
}

/** An address that is retained after its sandbox was torn down has no trace of the sandbox in its record. */
export function isProvenGone({ spec }: IpRecord): boolean {
  const { uid, containerID, netns } = spec.holder;
  return spec.state === 'Retained' && uid === undefined && containerID === undefined && netns === undefined;
}
