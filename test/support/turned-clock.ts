import { SYSTEM_TIMING, type Timing } from '#pkg/kube/transport/timing.ts';

export interface TurnedClock {
  readonly nowMs: () => number;
  readonly now: () => Date;
  /** Its timers go off when the clock is turned past their time. */
  readonly timing: Timing;
  turn(ms: number): void;
}

/** A clock that a test advances. */
export function turnedClock(): TurnedClock {
  let laterMs = 0;
  const timers = new Set<{ readonly dueMs: number; readonly fire: () => void }>();
  const nowMs = () => performance.now() + laterMs;
  const setTimer: Timing['setTimer'] = (ms, run) => {
    const cancel = () => {
      timers.delete(timer);
      cancelReal();
    };
    const fire = () => {
      cancel();
      run();
    };
    const cancelReal = SYSTEM_TIMING.setTimer(ms, fire);
    const timer = { dueMs: nowMs() + ms, fire };
    timers.add(timer);
    return cancel;
  };
  return {
    nowMs,
    now: () => new Date(Date.now() + laterMs),
    timing: { ...SYSTEM_TIMING, nowMs, setTimer },
    turn: (ms) => {
      laterMs += ms;
      for (const { dueMs, fire } of [...timers]) if (dueMs <= nowMs()) fire();
    },
  };
}
