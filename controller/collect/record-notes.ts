import { type PodFacts, USUAL_GRACE_SECONDS } from '#controller/cluster-view/pod-facts.ts';
import type { OwnerEvidence } from '#controller/judge/evidence.ts';
import { isAlive, isFinished } from '#pkg/crd/pod-life.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

/** What this leader noticed about a record's holder, and when. */
export interface Notes {
  readonly goneSinceMs: number | null;
  readonly finishedSinceMs: number | null;
  readonly idleSinceMs: number | null;
  readonly ownerAbsentSinceMs: number | null;
  readonly notServedSinceMs: number | null;
  /** The grace of a pod that was last seen running, where it is longer than the usual one. */
  readonly graceMs: number | null;
}

const NOTHING: Notes = {
  goneSinceMs: null,
  finishedSinceMs: null,
  idleSinceMs: null,
  ownerAbsentSinceMs: null,
  notServedSinceMs: null,
  graceMs: null,
};

interface Kept extends Notes {
  readonly key: string;
}

/** The memory behind "for a minute already": it starts anew with each term, which only makes the leader more patient. */
export class RecordNotes {
  readonly #kept = new Map<string, Kept>();

  /**
   * `pods`: the pod of the holder's name, or all launcher pods of a VMI. `from`: a watch may not have heard of a pod yet,
   * so only a read begins the time of its absence.
   */
  take(record: IpRecord, pods: readonly PodFacts[], from: 'watch' | 'read', nowMs: number): Notes {
    const { uid = '' } = record.spec.holder;
    const key = keyOf(record);
    const kept = this.#kept.get(record.name);
    const before = kept?.key === key ? kept : NOTHING;
    const notes = renew(before, uid, pods, from, nowMs);
    if (isNothing(notes)) this.#kept.delete(record.name);
    else this.#kept.set(record.name, { ...notes, key });
    return notes;
  }

  /** What was read of the record's owner. */
  noteOwner(
    record: IpRecord,
    owner: OwnerEvidence,
    nowMs: number,
  ): Pick<Notes, 'ownerAbsentSinceMs' | 'notServedSinceMs'> {
    const kept = this.#kept.get(record.name) ?? { ...NOTHING, key: keyOf(record) };
    const since = {
      ownerAbsentSinceMs: owner === 'invalid' ? (kept.ownerAbsentSinceMs ?? nowMs) : null,
      notServedSinceMs: owner === 'not-served' ? (kept.notServedSinceMs ?? nowMs) : null,
    };
    this.#kept.set(record.name, { ...kept, ...since });
    return since;
  }

  forget(name: string): void {
    this.#kept.delete(name);
  }
}

function renew(before: Notes, uid: string, pods: readonly PodFacts[], from: 'watch' | 'read', nowMs: number): Notes {
  const own = pods.find((pod) => pod.uid === uid);
  if (own !== undefined) {
    return {
      ...NOTHING,
      finishedSinceMs: isFinished(own) ? (before.finishedSinceMs ?? nowMs) : null,
      ownerAbsentSinceMs: isAlive(own) ? null : before.ownerAbsentSinceMs,
      notServedSinceMs: isAlive(own) ? null : before.notServedSinceMs,
      graceMs: longGraceMs(own),
    };
  }
  const runs = pods.some((pod) => isAlive(pod) && pod.phase === 'Running');
  return {
    goneSinceMs: before.goneSinceMs ?? (from === 'read' ? nowMs : null),
    finishedSinceMs: null,
    idleSinceMs: runs ? (before.idleSinceMs ?? nowMs) : null,
    ownerAbsentSinceMs: before.ownerAbsentSinceMs,
    notServedSinceMs: before.notServedSinceMs,
    graceMs: before.graceMs,
  };
}

/** Null where no note is needed: the usual grace is waited for anyway, and a pod that has ended is not waited for. */
function longGraceMs(pod: PodFacts): number | null {
  const hasEnded = !isAlive(pod) && pod.haveAllEnded;
  return hasEnded || pod.graceSeconds <= USUAL_GRACE_SECONDS ? null : pod.graceSeconds * 1_000;
}

function isNothing(notes: Notes): boolean {
  return Object.values(notes).every((value) => value === null);
}

function keyOf({ uid, spec }: IpRecord): string {
  return `${uid}/${spec.holder.uid ?? ''}`;
}
