import type { LeftoverVerdict, Sight } from '#agent/release/collector.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

export interface HostEvidence extends Sight {
  readonly bootID: string;
  /** A Cooling or Quarantined record ends after this time at the latest, whatever its `until` says. */
  readonly longestRestMs: number;
}

export interface LeftoverPatience {
  /** Where only the path of the namespace is known to be gone. */
  readonly pathGoneMs: number;
  /** Where the namespace itself is. */
  readonly netnsGoneMs: number;
  /** Where it has no link: a main plugin may make one after IPAM. */
  readonly netnsBareMs: number;
  readonly earlierBootMs: number;
}

/** Rule 6 without Kubernetes: a record without a DEL is freed on proof only. Null: the record is in use. */
export function judgeLeftover(
  { spec }: IpRecord,
  evidence: HostEvidence,
  patience: LeftoverPatience,
  now: Date,
): LeftoverVerdict | null {
  if (spec.state === 'Cooling' || spec.state === 'Quarantined') return judgeResting(spec.until, evidence, now);
  if (spec.state !== 'Allocated') return null;
  const { bootID } = spec.holder;
  if (bootID !== undefined && bootID !== evidence.bootID) {
    const waitedMs = evidence.nowMs - evidence.agentStartedAtMs;
    return verdict(waitedMs, patience.earlierBootMs, 'the machine was restarted and the container did not come back');
  }
  const { look, nowMs, lookSinceMs } = evidence;
  const where = `its network namespace ${spec.holder.netns}`;
  const seenMs = nowMs - lookSinceMs;
  if (look === 'gone') return verdict(seenMs, patience.netnsGoneMs, `${where} is gone`);
  if (look === 'path-gone') return verdict(seenMs, patience.pathGoneMs, `${where} is gone`);
  if (look === 'bare') return verdict(seenMs, patience.netnsBareMs, `${where} has no link any more`);
  return null;
}

function judgeResting(until: string | undefined, evidence: HostEvidence, now: Date): LeftoverVerdict {
  const restedMs = evidence.nowMs - evidence.seenSinceMs;
  const isOver = until === undefined || Date.parse(until) <= now.getTime() || restedMs >= evidence.longestRestMs;
  return { free: isOver, because: isOver ? 'its rest is over' : `it rests until ${until}` };
}

function verdict(waitedMs: number, neededMs: number, fact: string): LeftoverVerdict {
  if (waitedMs >= neededMs) return { free: true, because: fact };
  const againInMs = neededMs - waitedMs;
  return { free: false, because: `${fact}; looked at again in ${Math.ceil(againInMs / 1000)} s`, againInMs };
}
