import type { Interval } from './interval-set.ts';

/** Intervals in ascending order that neither overlap nor touch. */
export type SortedIntervals = readonly Interval[];

/** Index of the first interval that ends at or after `value`; the length if none does. */
export function indexAtOrAfter(intervals: SortedIntervals, value: bigint): number {
  let low = 0;
  let high = intervals.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const interval = intervals[middle];
    if (interval !== undefined && interval.last < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function hasMember(intervals: SortedIntervals, value: bigint): boolean {
  const interval = intervals[indexAtOrAfter(intervals, value)];
  return interval !== undefined && interval.first <= value;
}

/** Smallest member at or above `from`; past the end it wraps to the lowest. */
export function nextMember(intervals: SortedIntervals, from: bigint): bigint | null {
  const interval = intervals[indexAtOrAfter(intervals, from)];
  if (interval === undefined) return intervals[0]?.first ?? null;
  return interval.first > from ? interval.first : from;
}

/** The member with `index` members below it; null outside of 0 … size − 1. */
export function nthMember(intervals: SortedIntervals, index: bigint): bigint | null {
  if (index < 0n) return null;
  let below = 0n;
  for (const { first, last } of intervals) {
    if (index - below <= last - first) return first + index - below;
    below += last - first + 1n;
  }
  return null;
}

export function countMembers(intervals: SortedIntervals): bigint {
  return intervals.reduce((total, { first, last }) => total + last - first + 1n, 0n);
}
