import type { Slot } from '#agent/calls/gate.ts';

/** For a call that nobody queues behind. */
export const NO_SLOT: Slot = {
  rest: (wait) => wait(),
  share: (parts) => Promise.allSettled(parts.map((part) => part(NO_SLOT))),
};
