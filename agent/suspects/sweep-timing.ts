export interface SweepTiming {
  /** How long a record must stay Suspect without a change before its address is asked for. */
  readonly ageMs: number;
  /** Between two looks at the record of an followed address, and between two rounds of choosing addresses to follow. */
  readonly lookEveryMs: number;
  /** Between two rounds of probing. A host that restarts or a network that converges is silent for a while too. */
  readonly roundGapMs: number;
  /** Between two loads of the view of a pool in use. A node whose creates never fail learns of Suspect addresses only by this. */
  readonly reloadEveryMs: number;
}

/** Null: never. */
export function sweepTimingOf(suspectReleaseMinutes: number): SweepTiming | null {
  if (suspectReleaseMinutes === 0) return null;
  const ageMs = suspectReleaseMinutes * 60_000;
  return { ageMs, lookEveryMs: 10 * 60_000, roundGapMs: 2 * 60_000, reloadEveryMs: 60 * 60_000 };
}
