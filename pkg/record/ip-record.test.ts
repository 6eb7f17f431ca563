import { expect, test } from 'vitest';
import { isHeldState, isTimed, mayHaveSandbox, RECORD_STATES } from './ip-record.ts';

test.each([
  { of: 'a holder has it or may still have it', is: isHeldState, states: ['Allocated', 'Retained', 'Suspect'] },
  { of: 'a sandbox may use it', is: mayHaveSandbox, states: ['Allocated', 'Suspect'] },
  { of: 'it ends at its until', is: isTimed, states: ['Cooling', 'Quarantined'] },
])('the states in which $of', ({ is, states }) => {
  expect(RECORD_STATES.filter(is)).toEqual(states);
});
