import { type Interval, IntervalSet, indexAtOrAfter } from '#pkg/ip/interval-set.ts';

/**
 * So many addresses of `free`, together where that can be, because firewalls are written for ranges: first what touches `beside`, then
 * the smallest interval that is large enough, else the largest. Null: there are not enough, or not in so few pieces.
 */
export function pickAddresses(
  free: IntervalSet,
  { count, mostPieces }: { readonly count: bigint; readonly mostPieces: number },
  beside: IntervalSet,
): IntervalSet | null {
  if (free.size < count || sizeOfLargest(free, mostPieces) < count) return null;
  let left = free;
  let picked = IntervalSet.EMPTY;
  // Each piece costs a walk over all that is free.
  for (let pieces = 0; picked.size < count; pieces += 1) {
    if (pieces === mostPieces) return null;
    const missing = count - picked.size;
    const around = beside.union(picked);
    const interval = chooseInterval(left.intervals(), missing, around);
    if (interval === null) return null;
    const taken = IntervalSet.of([cut(interval, missing, around)]);
    picked = picked.union(taken);
    left = left.subtract(taken);
  }
  return picked;
}

/** Recognises at once a number of addresses that would need too many ranges. */
function sizeOfLargest(free: IntervalSet, most: number): bigint {
  const sizes = free.intervals().map(sizeOf);
  return sizes
    .sort((a, b) => (a < b ? 1 : -Number(a > b)))
    .slice(0, most)
    .reduce((sum, size) => sum + size, 0n);
}

function chooseInterval(intervals: readonly Interval[], count: bigint, around: IntervalSet): Interval | null {
  return bestOf(touching(intervals, around), count) ?? bestOf(intervals, count);
}

/** Found by search: a subnet may have thousands of free intervals. */
function touching(intervals: readonly Interval[], around: IntervalSet): readonly Interval[] {
  const beside = around.intervals().flatMap(({ first, last }) => [first - 1n, last + 1n]);
  const found = beside.flatMap((value) => {
    const interval = intervals[indexAtOrAfter(intervals, value)];
    return interval === undefined || interval.first > value ? [] : [interval];
  });
  return [...new Set(found)];
}

/** The smallest that is large enough, else the largest; of equal ones the lowest. */
function bestOf(intervals: readonly Interval[], count: bigint): Interval | null {
  let best: Interval | null = null;
  for (const interval of intervals)
    if (best === null || isBetter(sizeOf(interval), sizeOf(best), count)) best = interval;
  return best;
}

function isBetter(size: bigint, than: bigint, count: bigint): boolean {
  return than >= count ? size >= count && size < than : size > than;
}

/** The part of an interval that is beside what is there, else its beginning. */
function cut(interval: Interval, count: bigint, around: IntervalSet): Interval {
  const { first, last } = interval;
  if (sizeOf(interval) <= count) return interval;
  const fromAbove = !touchesBelow(interval, around) && touchesAbove(interval, around);
  return fromAbove ? { first: last - count + 1n, last } : { first, last: first + count - 1n };
}

function touchesBelow({ first }: Interval, around: IntervalSet): boolean {
  return around.contains(first - 1n);
}

function touchesAbove({ last }: Interval, around: IntervalSet): boolean {
  return around.contains(last + 1n);
}

function sizeOf({ first, last }: Interval): bigint {
  return last - first + 1n;
}
