import type { Timing } from '#pkg/kube/transport/timing.ts';

export interface TurnedTiming extends Timing {
  /** Runs what is due within this time, in its order. */
  pass(ms: number): void;
}

/** Timers that run when a test says so; `random` always returns the same share. */
export function turnedTiming(share = 0.5): TurnedTiming {
  const timers = new Map<() => void, number>();
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    random: () => share,
    setTimer: (ms, run) => {
      const timer = () => run();
      timers.set(timer, nowMs + ms);
      return () => timers.delete(timer);
    },
    pass: (ms) => {
      const untilMs = nowMs + ms;
      for (;;) {
        const [next] = [...timers].filter(([, atMs]) => atMs <= untilMs).sort(([, a], [, b]) => a - b);
        if (next === undefined) break;
        timers.delete(next[0]);
        nowMs = next[1];
        next[0]();
      }
      nowMs = untilMs;
    },
  };
}
