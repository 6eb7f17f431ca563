/** Both ends belong to it. */
export interface Interval {
  readonly first: bigint;
  readonly last: bigint;
}

/** An immutable set of numbers kept as the fewest intervals: a /64 costs what a /24 costs. */
export class IntervalSet {
  static readonly EMPTY = new IntervalSet([]);

  readonly size: bigint;
  // A plain property, not #private: test runners compare what they can see.
  private readonly sorted: SortedIntervals;

  private constructor(sorted: SortedIntervals) {
    this.sorted = sorted;
    this.size = countMembers(sorted);
  }

  static of(intervals: Iterable<Interval>): IntervalSet {
    const ascending = [...intervals].sort((a, b) => (a.first < b.first ? -1 : Number(a.first > b.first)));
    const merged: Interval[] = [];
    for (const { first, last } of ascending) {
      if (first > last) throw new RangeError(`interval ${first}..${last} is reversed`);
      const previous = merged.at(-1);
      if (previous === undefined || previous.last + 1n < first) merged.push({ first, last });
      else if (previous.last < last) merged[merged.length - 1] = { first: previous.first, last };
    }
    return new IntervalSet(merged);
  }

  get isEmpty(): boolean {
    return this.sorted.length === 0;
  }

  union(other: IntervalSet): IntervalSet {
    return IntervalSet.of([...this.sorted, ...other.sorted]);
  }

  intersect(other: IntervalSet): IntervalSet {
    return new IntervalSet(intersect(this.sorted, other.sorted));
  }

  subtract(other: IntervalSet): IntervalSet {
    return new IntervalSet(subtract(this.sorted, other.sorted));
  }

  contains(value: bigint): boolean {
    return hasMember(this.sorted, value);
  }

  /** Every member is one of the other's too; stops at the first that is not. */
  isSubsetOf(other: IntervalSet): boolean {
    if (other.isEmpty) return this.isEmpty;
    return this.sorted.every(({ first, last }) => {
      const cover = other.sorted[indexAtOrAfter(other.sorted, first)];
      return cover !== undefined && cover.first <= first && last <= cover.last;
    });
  }

  /** The member with `index` members below it; null outside of 0 … size − 1. */
  nth(index: bigint): bigint | null {
    return nthMember(this.sorted, index);
  }

  /** Smallest member at or above `from`, else the lowest of all. */
  next(from: bigint): bigint | null {
    return nextMember(this.sorted, from);
  }

  lowest(): bigint | null {
    return this.sorted[0]?.first ?? null;
  }

  intervals(): readonly Interval[] {
    return this.sorted;
  }

  equals(other: IntervalSet): boolean {
    return (
      this.sorted.length === other.sorted.length &&
      this.sorted.every(({ first, last }, index) => {
        const twin = other.sorted[index];
        return twin?.first === first && twin.last === last;
      })
    );
  }
}

function intersect(left: SortedIntervals, right: SortedIntervals): Interval[] {
  const common: Interval[] = [];
  // One of the two is often small, and lies in the middle of the other.
  let i = indexAtOrAfter(left, right[0]?.first ?? 0n);
  let j = indexAtOrAfter(right, left[0]?.first ?? 0n);
  for (let a = left[i], b = right[j]; a !== undefined && b !== undefined; a = left[i], b = right[j]) {
    const first = a.first > b.first ? a.first : b.first;
    const last = a.last < b.last ? a.last : b.last;
    if (first <= last) common.push({ first, last });
    if (a.last < b.last) i += 1;
    else j += 1;
  }
  return common;
}

function subtract(left: SortedIntervals, right: SortedIntervals): Interval[] {
  const rest: Interval[] = [];
  let j = indexAtOrAfter(right, left[0]?.first ?? 0n);
  for (const { first, last } of left) {
    let start = first;
    for (let hole = right[j]; hole !== undefined && hole.first <= last; hole = right[j]) {
      if (start < hole.first) rest.push({ first: start, last: hole.first - 1n });
      if (start <= hole.last) start = hole.last + 1n;
      if (hole.last > last) break; // it may reach into the next interval
      j += 1;
    }
    if (start <= last) rest.push({ first: start, last });
  }
  return rest;
}

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

function countMembers(intervals: SortedIntervals): bigint {
  return intervals.reduce((total, { first, last }) => total + last - first + 1n, 0n);
}
