import type { Holder, RecordState } from './ip-record.ts';

/** Who writes: the agent of the node that the record names, the agent of any other node, or the controller's leader. */
export type Writer = 'own-agent' | 'other-agent' | 'controller';

/**
 * `amend`: the holder stays. `take-over`: the next holder gets the address (rule 3). `repair`: the controller makes the
 * record say again what a living pod shows in its status.
 */
type Way = 'amend' | 'take-over' | 'repair';

interface Transition {
  readonly from: RecordState;
  readonly to: RecordState;
  readonly way: Way;
  readonly by: readonly Writer[];
}

/** Every change of state that a record may go through. The ledgers, the admission policy and docs/design.md agree with it. */
export const TRANSITIONS: readonly Transition[] = [
  { from: 'Allocated', to: 'Allocated', way: 'amend', by: ['own-agent', 'controller'] },
  { from: 'Allocated', to: 'Retained', way: 'amend', by: ['own-agent', 'controller'] },
  { from: 'Allocated', to: 'Cooling', way: 'amend', by: ['own-agent', 'controller'] },
  { from: 'Allocated', to: 'Quarantined', way: 'amend', by: ['own-agent'] },
  { from: 'Allocated', to: 'Suspect', way: 'amend', by: ['controller'] },
  { from: 'Retained', to: 'Retained', way: 'amend', by: ['own-agent', 'controller'] },
  { from: 'Retained', to: 'Suspect', way: 'amend', by: ['controller'] },
  { from: 'Suspect', to: 'Allocated', way: 'amend', by: ['own-agent', 'controller'] },
  { from: 'Suspect', to: 'Suspect', way: 'amend', by: ['own-agent'] },
  { from: 'Retained', to: 'Allocated', way: 'take-over', by: ['own-agent', 'other-agent'] },
  { from: 'Suspect', to: 'Allocated', way: 'take-over', by: ['own-agent', 'other-agent'] },
  { from: 'Allocated', to: 'Allocated', way: 'repair', by: ['controller'] },
  { from: 'Retained', to: 'Allocated', way: 'repair', by: ['controller'] },
  { from: 'Suspect', to: 'Allocated', way: 'repair', by: ['controller'] },
  { from: 'Cooling', to: 'Allocated', way: 'repair', by: ['controller'] },
  { from: 'Quarantined', to: 'Allocated', way: 'repair', by: ['controller'] },
];

/** In which states a writer may delete a record, which frees its address (rule 2). */
export const DELETES: Readonly<Record<Writer, readonly RecordState[]>> = {
  'own-agent': ['Allocated', 'Suspect'],
  'other-agent': [],
  controller: ['Allocated', 'Retained', 'Suspect', 'Cooling', 'Quarantined'],
};

/** The kinds of holders that an agent of a cluster writes, and in which states (null: any). Claims and allocations are the controller's. */
export const AGENT_HOLDERS: readonly { readonly kind: Holder['kind']; readonly only: RecordState | null }[] = [
  { kind: 'Pod', only: null },
  { kind: 'VirtualMachineInstance', only: null },
  { kind: 'Conflict', only: 'Quarantined' },
];

export function mayMove(from: RecordState, to: RecordState, way: Way): boolean {
  return TRANSITIONS.some((it) => it.from === from && it.to === to && it.way === way);
}
