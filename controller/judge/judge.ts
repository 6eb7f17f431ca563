import { type IpRecord, isHeldState, isMachineHolder } from '#pkg/record/ip-record.ts';
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
  if (!isCollecting(verdict)) return verdict;
  return settings.isEnabled ? (awaitAgents(verdict, evidence, settings) ?? verdict) : keep('switched-off');
}

/**
 * After a break the store may be a restored one: pods, owners and nodes are missing, and this record may be an old one of an
 * address that a live sandbox has. Its agent is given the time to say so (rule 9). A rest ends in time, because agents hold
 * addresses back themselves in that minute, and the one that has the address in use cannot write it back before.
 */
function awaitAgents(
  verdict: Verdict,
  { nowMs, steadySinceMs }: Evidence,
  { settleMs }: CollectSettings,
): Verdict | null {
  const leftMs = steadySinceMs + settleMs - nowMs;
  return leftMs > 0 && verdict.do !== 'read-pod' ? keep('after-break', leftMs) : null;
}

function judgeAll(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  const { state, holder } = record.spec;
  // The address in the status of a pod proves nothing here: a machine has it.
  if (isMachineHolder(holder) && isHeldState(state)) return keep('not-judged-here');
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
