import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import { isAlive, isFinished } from '#pkg/crd/pod-life.ts';
import { type IpRecord, isStaticHolder, isStickyHolder } from '#pkg/record/ip-record.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { repair } from './judge-claims.ts';
import { awaitOwner, doubt, judgeGone, judgeStatic } from './judge-gone.ts';
import { judgeNotServed, judgeWaiting } from './judge-waiting.ts';
import { type Cause, keep, type Verdict } from './verdict.ts';
import { type NodeWeight, weighNode } from './weigh-node.ts';

export function judgePod(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const own = ownPod(record, evidence);
  if (isStaticHolder(record.spec.holder) && (own === null || !isAlive(own))) {
    return judgeStatic(record, evidence, settings);
  }
  if (own === null) return judgeAbsent(record, evidence, settings);
  if (!isAlive(own)) return judgeEnding(own, record, evidence, settings);
  if (own.phase === 'Pending') return keep('pod-pending');
  return judgeAlive(own, record, evidence, settings);
}

/** A pod of the same name with another uid is another pod. */
function ownPod({ spec }: IpRecord, { pod }: Evidence): PodFacts | null {
  if (pod === null) return null;
  if (spec.holder.uid === undefined) return spec.state === 'Retained' ? null : pod;
  return pod.uid === spec.holder.uid ? pod : null;
}

function judgeAbsent(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const { state } = record.spec;
  if (!isSticky(record, settings)) return judgeGone(record, evidence, settings);
  if (evidence.owner === 'unread') return { do: 'read-owner', what: 'stateful-set' };
  if (evidence.owner === 'not-served') return judgeNotServed(record, evidence, settings);
  if (evidence.owner === 'invalid') return awaitOwner(evidence, settings) ?? judgeGone(record, evidence, settings);
  // Suspect since its set did not want it, and wanted again: its next pod may have found no way to take it over.
  if (state === 'Retained' || state === 'Suspect') return judgeWaiting(record, evidence, settings);
  // Pod and node evidence of any strength does no more than this to a sticky holder.
  if (state === 'Allocated') {
    const isProven = weighNode(record, evidence, settings).node === 'lost';
    return { do: 'retain', cause: 'pod-gone', isProven, isAwaited: evidence.pod !== null };
  }
  return keep('retained');
}

/** Finished, or being deleted. That its containers ended does not prove that its sandbox, with the address, is gone. */
function judgeEnding(own: PodFacts, record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  if (isSticky(record, settings)) {
    // It cannot be reborn before its object is gone, so nothing is gained by haste.
    if (evidence.owner === 'unread') return { do: 'read-owner', what: 'stateful-set' };
    if (evidence.owner === 'not-served') return keep('holder-kind-not-served');
    if (evidence.owner === 'valid') return keep('sticky-pod-there');
    const early = awaitOwner(evidence, settings);
    if (early !== null) return early;
  }
  const leftMs = endOf(own, evidence) + settings.additionalDelayMs - evidence.wallMs;
  if (leftMs > 0) return keep('within-grace', leftMs);
  const cause: Cause = isFinished(own) ? 'pod-finished' : 'pod-terminating';
  const weight = weighNode(record, evidence, settings);
  if (weight.node === 'lost') return { do: 'free', cause };
  if (!isSwitchedOn(own, weight, settings)) return keep('switched-off');
  if (weight.node === 'wait') return keep(weight.why, weight.againInMs);
  // At its deadline a pod that used up its grace is just being killed, and its DEL is on the way.
  if (leftMs + settings.settleMs > 0) return keep('within-grace', leftMs + settings.settleMs);
  return doubt(record, cause, weight);
}

function isSwitchedOn(own: PodFacts, { node }: NodeWeight, settings: CollectSettings): boolean {
  if (!isFinished(own) && !settings.collectsTerminating) return false;
  if (node === 'attended' || node === 'unattended') return settings.collectsOnReadyNodes;
  return node === 'wait' || settings.collectsOnNotReadyNodes;
}

function judgeAlive(own: PodFacts, record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const { state, holder } = record.spec;
  const isWithoutAddress =
    settings.suspectsRunningWithoutAddress &&
    own.podIPs.length === 0 &&
    !isSticky(record, settings) &&
    !isStaticHolder(holder);
  if (isWithoutAddress && state !== 'Retained') {
    if (state === 'Suspect') return keep('pod-alive');
    return settled(evidence, settings) ?? { do: 'suspect', cause: 'running-without-address' };
  }
  if (state === 'Allocated' && own.node === holder.node) return keep('pod-alive');
  return repair(own, evidence, settings);
}

/**
 * On the wall clock. Grace is counted once: `deletionTimestamp` contains it. A pod had finished when this leader saw it so,
 * whatever the clock of its node says.
 */
function endOf(own: PodFacts, { nowMs, wallMs, finishedSinceMs }: Evidence): number {
  const seenMs = wallMs - (nowMs - (finishedSinceMs ?? nowMs));
  const finishEndMs = Math.min(own.finishedAtMs ?? seenMs, seenMs) + own.graceSeconds * 1_000;
  if (own.deletesAtMs === null) return finishEndMs;
  return isFinished(own) ? Math.min(finishEndMs, own.deletesAtMs) : own.deletesAtMs;
}

function settled({ nowMs, firstSeenMs }: Evidence, { settleMs }: CollectSettings): Verdict | null {
  const leftMs = firstSeenMs + settleMs - nowMs;
  return leftMs > 0 ? keep('settling', leftMs) : null;
}

function isSticky({ spec }: IpRecord, { keepsStatefulSets }: CollectSettings): boolean {
  return isStickyHolder(spec.holder, { enableStatefulSet: keepsStatefulSets, enableKubevirtStaticIP: true });
}
