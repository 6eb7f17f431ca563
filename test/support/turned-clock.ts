export interface TurnedClock {
  readonly nowMs: () => number;
  readonly now: () => Date;
  turn(ms: number): void;
}

/** A clock that a test advances. */
export function turnedClock(): TurnedClock {
  let laterMs = 0;
  return {
    nowMs: () => performance.now() + laterMs,
    now: () => new Date(Date.now() + laterMs),
    turn: (ms) => {
      laterMs += ms;
    },
  };
}
