import { type Interval, IntervalSet } from '#pkg/ip/interval-set.ts';

/**
 * At most so many of the `unused` members of `addresses`, so that what remains stays together: first whole intervals, the smallest
 * first, then from the ends of intervals, the highest first, and only then from the middle, as long as that leaves so few pieces.
 */
export function dropAddresses(
  addresses: IntervalSet,
  unused: IntervalSet,
  { count, mostPieces }: { readonly count: bigint; readonly mostPieces: number },
): IntervalSet {
  let dropped = IntervalSet.EMPTY;
  const drop = (part: Interval, isFromBelow = false) => {
    const missing = count - dropped.size;
    if (missing > 0n) dropped = dropped.union(IntervalSet.of([cutEnd(part, missing, isFromBelow)]));
  };
  for (const interval of wholeIntervals(addresses, unused))
    if (sizeOf(interval) <= count - dropped.size) drop(interval);
  const rest = addresses.subtract(dropped).intervals().toReversed();
  for (const { last } of rest) for (const run of runs(unused, dropped)) if (run.last === last) drop(run);
  for (const { first } of rest) for (const run of runs(unused, dropped)) if (run.first === first) drop(run, true);
  // Each of these runs has neighbours on both sides, so that one interval becomes two.
  const more = Math.max(mostPieces - addresses.subtract(dropped).intervals().length, 0);
  for (const run of runs(unused, dropped).toReversed().slice(0, more)) drop(run);
  return dropped;
}

function wholeIntervals(addresses: IntervalSet, unused: IntervalSet): Interval[] {
  return addresses
    .intervals()
    .filter((interval) => IntervalSet.of([interval]).isSubsetOf(unused))
    .toSorted((a, b) => compare(sizeOf(a), sizeOf(b)) || compare(b.first, a.first));
}

function runs(unused: IntervalSet, dropped: IntervalSet): readonly Interval[] {
  return unused.subtract(dropped).intervals();
}

function cutEnd({ first, last }: Interval, count: bigint, isFromBelow: boolean): Interval {
  if (last - first < count) return { first, last };
  return isFromBelow ? { first, last: first + count - 1n } : { first: last - count + 1n, last };
}

function sizeOf({ first, last }: Interval): bigint {
  return last - first + 1n;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}
