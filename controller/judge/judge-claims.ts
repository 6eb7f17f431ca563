import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import { isAlive } from '#pkg/crd/pod-life.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { isNamedAfter } from './next-spec.ts';
import { keep, type Verdict } from './verdict.ts';

/**
 * An address in the status of a living pod is never freed; if its record says something else, the record is repaired.
 * Null: no living pod has it, or the rules for its own holder say more.
 */
export function judgeClaims(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict | null {
  const { holder, state } = record.spec;
  const own = evidence.claimants.find((pod) => pod.uid === holder.uid && isNamedAfter(holder, pod));
  // A pod that is ending shows its address until its object is gone, also after another pod has taken it over.
  const living = evidence.claimants.filter((pod) => pod !== own && isAlive(pod));
  if (own !== undefined) {
    if (!isAlive(own)) return living.length === 0 ? null : keep('two-pods-claim-it');
    const isRight = state === 'Allocated' && own.node === holder.node;
    return isRight ? keep('pod-alive') : repair(own, evidence, settings);
  }
  if (evidence.claimants.length === 0) return null;
  const { pod } = evidence;
  const holderLives = pod !== null && pod.uid === holder.uid && isAlive(pod) && state === 'Allocated';
  const [claimant, ...others] = living;
  if (claimant === undefined) return keep(holderLives ? 'pod-alive' : 'address-in-use');
  return others.length > 0 || holderLives ? keep('two-pods-claim-it') : repair(claimant, evidence, settings);
}

/** Status and record are written by different hands, so they may differ for a moment. */
export function repair(pod: PodFacts, { nowMs, firstSeenMs }: Evidence, { settleMs }: CollectSettings): Verdict {
  const leftMs = firstSeenMs + settleMs - nowMs;
  return leftMs > 0 ? keep('settling', leftMs) : { do: 'allocate-again', cause: 'edited-by-hand', pod };
}
