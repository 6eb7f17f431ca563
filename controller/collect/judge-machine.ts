import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { isAlive, isFinished } from '../cluster-view/pod-facts.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { repair } from './judge-claims.ts';
import { awaitOwner, judgeGone, judgeNotTaken } from './judge-gone.ts';
import { keep, type Verdict } from './verdict.ts';
import { weighNode } from './weigh-node.ts';

/** A virtual machine keeps its address over restarts and migrations; its launcher pods come and go. */
export function judgeMachine(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const { state, holder } = record.spec;
  const own = evidence.launchers.find(({ uid }) => uid === holder.uid);
  if (own !== undefined && !isFinished(own)) {
    const isRight = state === 'Allocated' && own.node === holder.node;
    return isRight || !isAlive(own) || own.phase === 'Pending' ? keep('pod-alive') : repair(own, evidence, settings);
  }
  if (evidence.owner === 'unread') return { do: 'ask-live', what: 'machine' };
  if (evidence.owner === 'not-served') return keep('holder-kind-not-served');
  if (evidence.owner === 'invalid') {
    if (evidence.launchers.length > 0) return keep('launcher-there');
    return awaitOwner(evidence, settings) ?? judgeGone(record, evidence, settings);
  }
  const running = evidence.launchers.filter((pod) => isAlive(pod) && pod.phase === 'Running');
  const [target] = running;
  if (state === 'Allocated' && target !== undefined && running.length === 1) {
    return { do: 'allocate-again', cause: 'migrated', pod: target };
  }
  // Suspect since nobody wanted it, and wanted again: its next launcher may have found no way to take it over.
  if (state === 'Retained' || state === 'Suspect') return judgeNotTaken(record, evidence, settings);
  if (state === 'Allocated' && running.length === 0) {
    return { do: 'retain', cause: 'pod-gone', isProven: weighNode(evidence, settings).node === 'lost' };
  }
  return keep('retained');
}
