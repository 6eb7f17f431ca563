import { type IpRecord, isHeldState } from '#pkg/record/ip-record.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { judgeClaims } from './judge-claims.ts';
import { judgePod } from './judge-pod.ts';
import { judgeVmi } from './judge-vmi.ts';
import { isCollecting, keep, type Verdict } from './verdict.ts';

/**
 * What becomes of a record (rules 3, 6 and 7). It is asked twice: of what the watches know, which costs nothing, and,
 * before anything is written, of what the API server says now. Only the second answer is acted upon.
 */
export function judge(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const verdict = judgeAll(record, evidence, settings);
  return settings.isEnabled || !isCollecting(verdict) ? verdict : keep('switched-off');
}

function judgeAll(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const { state, holder } = record.spec;
  // A machine has it, not a pod: its reconciler alone gives it back, and no pod's status says otherwise.
  if (holder.kind === 'IPAddressClaim' && isHeldState(state)) return keep('not-judged-here');
  const claimed = judgeClaims(record, evidence, settings);
  if (claimed !== null) return claimed;
  if (state === 'Cooling' || state === 'Quarantined') return judgeRest(record, evidence, settings);
  if (holder.kind === 'Pod') return judgePod(record, evidence, settings);
  if (holder.kind === 'VirtualMachineInstance') return judgeVmi(record, evidence, settings);
  return keep('not-judged-here');
}

/** A clock that is wrong, here or there, must not keep an address for ever. */
function judgeRest(
  { spec }: IpRecord,
  { nowMs, wallMs, firstSeenMs }: Evidence,
  { longestRestMs }: CollectSettings,
): Verdict {
  const untilMs = Date.parse(spec.until ?? '');
  const leftMs = Math.min(untilMs - wallMs, firstSeenMs + longestRestMs - nowMs);
  if (leftMs > 0) return keep('resting', leftMs);
  return { do: 'free', cause: spec.state === 'Cooling' ? 'cooled' : 'quarantine-over' };
}
