const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
] as const;

/** `42s`, `5m`, `3h`, `12d`: the largest unit that fits, rounded down. Never negative, although clocks differ. */
export function toDurationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  for (const [unit, length] of UNITS) {
    if (seconds >= length) return `${Math.floor(seconds / length)}${unit}`;
  }
  return `${seconds}s`;
}

export function toAgeText(createdAt: string, nowMs: number): string {
  const createdMs = Date.parse(createdAt);
  return Number.isNaN(createdMs) ? '' : toDurationText(nowMs - createdMs);
}
