import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { isProvenGone, judgeGone, judgeNotTaken } from './judge-gone.ts';
import { type Cause, keep, type Verdict } from './verdict.ts';

/** Retained, or Suspect, for a holder whose owner wants it (rules 7 and 10). */
export function judgeWaiting(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const verdict = judgeNotTaken(record, evidence, settings);
  if (verdict.do !== 'keep' || !isBeyondBounds(record, evidence, settings)) return verdict;
  const leftMs = evidence.firstSeenMs + settings.beyondBoundsMs - evidence.nowMs;
  if (leftMs > 0) return keep('beyond-bounds', Math.min(leftMs, verdict.againInMs ?? leftMs));
  return end('beyond-bounds', record, evidence, settings);
}

/** The kind may be back in a moment, with its objects. It may also never have been there. */
export function judgeNotServed(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const { nowMs, notServedSinceMs } = evidence;
  const leftMs = (notServedSinceMs ?? nowMs) + settings.beyondBoundsMs - nowMs;
  return leftMs > 0 ? keep('holder-kind-not-served', leftMs) : end('kind-not-served', record, evidence, settings);
}

/**
 * What was Retained first stays, whatever comes after it: the bound of a namespace is only for what becomes Retained when it
 * is reached. Of one holder only the last address is of use, on each interface and in each family.
 */
function isBeyondBounds({ spec }: IpRecord, evidence: Evidence, { retainedPerNamespace }: CollectSettings): boolean {
  return spec.state === 'Retained' && (evidence.isSuperseded || evidence.retainedBefore >= retainedPerNamespace);
}

function end(cause: Cause, record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  return isProvenGone(record) ? { do: 'free', cause } : judgeGone(record, evidence, settings);
}
