import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import { isFinished } from '#pkg/crd/pod-life.ts';
import { isStickyHolder } from '#pkg/record/holder.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { repair } from './judge-claims.ts';
import { awaitOwner, judgeGone, judgeNotTaken } from './judge-gone.ts';
import { type Cause, keep, type Verdict } from './verdict.ts';
import { weighNode } from './weigh-node.ts';

export function judgePod(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const own = ownPod(record, evidence);
  if (own === null) return judgeAbsent(record, evidence, settings);
  if (own.phase === 'Pending') return keep('pod-pending');
  if (isFinished(own) || own.deletesAtMs !== null) return judgeEnding(own, record, evidence, settings);
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
  if (evidence.owner === 'not-served') return keep('holder-kind-not-served');
  if (evidence.owner === 'invalid') return awaitOwner(evidence, settings) ?? judgeGone(record, evidence, settings);
  // Suspect since its set did not want it, and wanted again: its next pod may have found no way to take it over.
  if (state === 'Retained' || state === 'Suspect') return judgeNotTaken(record, evidence, settings);
  // Pod and node evidence of any strength does no more than this to a sticky holder.
  if (state === 'Allocated')
    return { do: 'retain', cause: 'pod-gone', isProven: weighNode(evidence, settings).node === 'lost' };
  return keep('retained');
}

/** Finished, or told to end. Its processes may still run: what its node says of them decides. */
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
  const weight = weighNode(evidence, settings);
  if (weight.node === 'wait') return keep(weight.why, weight.againInMs);
  if (weight.node === 'lost') return { do: 'free', cause };
  const isSwitchedOn = weight.node === 'here' ? settings.collectsOnReadyNodes : settings.collectsOnNotReadyNodes;
  if (!isSwitchedOn) return keep('switched-off');
  const hasEnded = isFinished(own) ? !own.isAnyRunning : own.haveAllEnded;
  if (weight.node === 'here' && hasEnded) return settled(evidence, settings) ?? { do: 'free', cause };
  // At its deadline a pod that used up its grace is just being killed, and its DEL is on the way.
  if (leftMs + settings.settleMs > 0) return keep('within-grace', leftMs + settings.settleMs);
  return record.spec.state === 'Allocated' ? { do: 'suspect', cause } : keep('node-away');
}

function judgeAlive(own: PodFacts, record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const { state, holder } = record.spec;
  const isWithoutAddress =
    settings.suspectsRunningWithoutAddress && own.podIPs.length === 0 && !isSticky(record, settings);
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
