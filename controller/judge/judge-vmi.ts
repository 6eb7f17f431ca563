import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import { isAlive, isFinished } from '#pkg/crd/pod-life.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { repair } from './judge-claims.ts';
import { awaitOwner, judgeGone } from './judge-gone.ts';
import { judgeNotServed, judgeWaiting } from './judge-waiting.ts';
import { keep, type Verdict } from './verdict.ts';
import { weighNode } from './weigh-node.ts';

/** A VMI keeps its address over restarts and migrations; its launcher pods come and go. */
export function judgeVmi(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const { state, holder } = record.spec;
  const own = evidence.launchers.find(({ uid }) => uid === holder.uid);
  if (own !== undefined && !isFinished(own)) {
    const isRight = state === 'Allocated' && own.node === holder.node;
    return isRight || !isAlive(own) || own.phase === 'Pending' ? keep('pod-alive') : repair(own, evidence, settings);
  }
  if (evidence.owner === 'unread') return { do: 'read-owner', what: 'vmi' };
  const launchers = launchersOf(record, evidence.launchers);
  const isAbsent = evidence.owner === 'not-served' || evidence.owner === 'invalid';
  if (isAbsent && launchers.length > 0) return keep('launcher-there');
  if (evidence.owner === 'not-served') return judgeNotServed(record, evidence, settings);
  if (evidence.owner === 'invalid') {
    return awaitOwner(evidence, settings) ?? judgeGone(record, evidence, settings);
  }
  const running = launchers.filter((pod) => isAlive(pod) && pod.phase === 'Running');
  const [target] = running;
  // A migration target's ADD writes nothing, so the DEL of its source retains an address that the VMI goes on using.
  // Suspect is not like that: such a record is never what a target was answered with.
  const wasAnswered = state === 'Retained' && running.some(({ isMigrationTarget }) => isMigrationTarget);
  if (target !== undefined && (state === 'Allocated' || wasAnswered)) {
    return running.length === 1 ? { do: 'allocate-again', cause: 'migrated', pod: target } : keep('retained');
  }
  // A Suspect record whose VMI is wanted again: the next launcher pod may have been unable to take the address over.
  if (state === 'Retained' || state === 'Suspect') return judgeWaiting(record, evidence, settings);
  if (state === 'Allocated') {
    const isProven = weighNode(record, evidence, settings).node === 'lost';
    return { do: 'retain', cause: 'pod-gone', isProven, isAwaited: evidence.launchers.some(isAlive) };
  }
  return keep('retained');
}

/**
 * Those that name the VMI which the record was verified with: a tenant may name any VMI as the owner of a pod (rule 10). Records
 * from before owners were read do not have its uid.
 */
export function launchersOf({ spec }: IpRecord, pods: readonly PodFacts[]): readonly PodFacts[] {
  const uid = spec.holder.owner?.uid;
  return uid === undefined ? pods : pods.filter(({ controller }) => controller?.uid === uid);
}
