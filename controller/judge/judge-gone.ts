import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { keep, type Verdict } from './verdict.ts';
import { weighAbsence } from './weigh-node.ts';

/** The pod object is gone and no owner will create it again. That alone is weak evidence: the pod may have been force-deleted. */
export function judgeGone(record: IpRecord, evidence: Evidence, settings: CollectSettings): Verdict {
  if (isProvenGone(record)) return { do: 'free', cause: 'pod-gone' };
  const { nowMs, goneSinceMs, firstSeenMs } = evidence;
  const leftMs = Math.max(goneSinceMs ?? nowMs, firstSeenMs) + settings.settleMs + settings.additionalDelayMs - nowMs;
  if (leftMs > 0) return keep('settling', leftMs);
  const weight = weighAbsence(evidence, settings);
  switch (weight.node) {
    case 'wait':
      return keep(weight.why, weight.againInMs);
    case 'here':
      return { do: 'free', cause: 'pod-gone' };
    case 'lost':
      return { do: 'free', cause: 'node-gone' };
    case 'away':
      return record.spec.state === 'Allocated' ? { do: 'suspect', cause: 'pod-gone' } : keep('node-away');
  }
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
  if (idleSinceMs === null) return keep('retained');
  const leftMs = Math.max(idleSinceMs, firstSeenMs) + settings.notTakenMs - nowMs;
  if (leftMs > 0) return keep('retained', leftMs);
  if (isProvenGone(record)) return { do: 'free', cause: 'not-taken' };
  const weight = weighAbsence(evidence, settings);
  if (weight.node === 'wait') return keep(weight.why, weight.againInMs);
  return weight.node === 'away' ? keep('node-away') : { do: 'free', cause: 'not-taken' };
}

/** An address that is retained after its sandbox was torn down has no trace of the sandbox in its record. */
function isProvenGone({ spec }: IpRecord): boolean {
  const { uid, containerID, netns } = spec.holder;
  return spec.state === 'Retained' && uid === undefined && containerID === undefined && netns === undefined;
}
