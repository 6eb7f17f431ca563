import type { Slot } from '#agent/calls/gate.ts';

/** For a call outside of any queue. */
export const NO_SLOT: Slot = {
  rest: (wait) => wait(),
  share: (parts) => Promise.allSettled(parts.map((part) => part(NO_SLOT))),
};
