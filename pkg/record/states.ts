import type { RecordState } from './ip-record.ts';

/** A holder has the address or may still have it. Cooling and Quarantined addresses have no holder, and are not free either. */
export function isHeldState(state: RecordState): boolean {
  return state === 'Allocated' || state === 'Retained' || state === 'Suspect';
}

/** A sandbox uses the address, or may still use it. A Retained address waits between two sandboxes. */
export function mayHaveSandbox(state: RecordState): boolean {
  return state === 'Allocated' || state === 'Suspect';
}

/** States that end at `until`; in them the record has no pod and no container. */
export const TIMED_STATES = ['Cooling', 'Quarantined'] as const satisfies readonly RecordState[];

export function isTimed(state: RecordState): boolean {
  return (TIMED_STATES as readonly RecordState[]).includes(state);
}
