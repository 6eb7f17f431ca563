import { shapeProblem } from './decode-record.ts';
import { isSameHolder, isSameMachine, type RecordSpec } from './ip-record.ts';
import { mayMove } from './transition-table.ts';

/** Why `after` may not take the address that `before` holds (rule 3), or null. */
export function takeOverProblem(before: RecordSpec, after: RecordSpec): string | null {
  if (after.state !== 'Allocated') return `a take-over ends as Allocated, not as ${after.state}`;
  if (!mayMove(before.state, after.state, 'take-over')) return `a record that is ${before.state} is not taken over`;
  if (before.state === 'Retained' && !isSameHolder(before.holder, after.holder)) {
    return 'a Retained record is only for its own holder';
  }
  return identityProblem(before, after) ?? shapeProblem(after);
}

/** Why the owner of `before` (or the controller for it) may not make it `after`, or null. */
export function amendProblem(before: RecordSpec, after: RecordSpec): string | null {
  if (!mayMove(before.state, after.state, 'amend')) {
    return `a record does not go from ${before.state} to ${after.state}`;
  }
  return (
    identityProblem(before, after) ?? ownerProblem(before, after) ?? attachProblem(before, after) ?? shapeProblem(after)
  );
}

/** Why the controller may not make `before` the record of a living pod, or null. The pod's status decides who holds it. */
export function repairProblem(before: RecordSpec, after: RecordSpec): string | null {
  if (!mayMove(before.state, after.state, 'repair')) return `a repair ends as Allocated, not as ${after.state}`;
  return identityProblem(before, after) ?? attachProblem(before, after) ?? shapeProblem(after);
}

function identityProblem(before: RecordSpec, after: RecordSpec): string | null {
  if (before.address !== after.address) return 'the address of a record never changes';
  if (before.domain !== after.domain) return 'the domain of a record never changes';
  return null;
}

function ownerProblem(before: RecordSpec, after: RecordSpec): string | null {
  if (before.holder.interface !== after.holder.interface) return 'the interface of a holder never changes';
  // A foreign host answered: the record names that host from now on.
  if (after.state === 'Quarantined' && after.holder.kind === 'Conflict') return null;
  if (!isSameHolder(before.holder, after.holder) && !isSameMachine(before.holder, after.holder)) {
    return 'the record belongs to another holder';
  }
  if (before.state !== 'Suspect') return null;
  if (before.holder.uid !== after.holder.uid || (after.state === 'Allocated' && before.holder.uid === undefined)) {
    return 'a Suspect record goes back only to the holder with its uid';
  }
  return null;
}

function attachProblem(before: RecordSpec, after: RecordSpec): string | null {
  const isCompared = after.state === 'Allocated' || after.state === 'Suspect';
  return isCompared && after.holder.attachGeneration < before.holder.attachGeneration
    ? 'attachGeneration never falls'
    : null;
}
