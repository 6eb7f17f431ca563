import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange, parseRange } from '#pkg/ip/range.ts';

const MOST_ITEMS = 1_000;

/** The fewest ranges in ascending order. Null where there is nothing to merge, or something that validation has to refuse. */
export function mergeRanges(value: unknown): string[] | null {
  if (!isTextList(value) || value.length < 2 || value.length > MOST_ITEMS) return null;
  try {
    const ranges = value.map(parseRange);
    const family = ranges[0]?.family ?? 4;
    if (ranges.some((range) => range.family !== family)) return null;
    return IntervalSet.of(ranges)
      .intervals()
      .map((interval) => formatRange(family, interval));
  } catch {
    return null;
  }
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
