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

/** Every `modulus`th address: those that leave `rest` when divided by it. */
export interface Residue {
  readonly modulus: bigint;
  readonly rest: bigint;
}

/** Smallest member of `residue` at or above `from`; past the end it wraps to the lowest. */
export function nextOfResidue(intervals: SortedIntervals, from: bigint, residue: Residue): bigint | null {
  return lowestOfResidue(intervals, from, residue) ?? lowestOfResidue(intervals, 0n, residue);
}

function lowestOfResidue(intervals: SortedIntervals, from: bigint, residue: Residue): bigint | null {
  for (let index = indexAtOrAfter(intervals, from); index < intervals.length; index += 1) {
    const { first = 0n, last = -1n } = intervals[index] ?? {};
    const value = firstOfResidue(first < from ? from : first, residue);
    if (value <= last) return value;
  }
  return null;
}

export function countOfResidue(intervals: SortedIntervals, residue: Residue): bigint {
  return intervals.reduce((total, { first, last }) => {
    const lowest = firstOfResidue(first, residue);
    return lowest > last ? total : total + (last - lowest) / residue.modulus + 1n;
  }, 0n);
}

/** The lowest of `residue` at or above `from`. */
function firstOfResidue(from: bigint, { modulus, rest }: Residue): bigint {
  const ahead = (rest - (from % modulus)) % modulus;
  return from + (ahead < 0n ? ahead + modulus : ahead);
}

export function countMembers(intervals: SortedIntervals): bigint {
  return intervals.reduce((total, { first, last }) => total + last - first + 1n, 0n);
}
