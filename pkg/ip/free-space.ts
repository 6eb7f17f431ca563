import {
  hasMember,
  type Interval,
  IntervalSet,
  indexAtOrAfter,
  nextMember,
  nthMember,
  type SortedIntervals,
} from './interval-set.ts';

/** The free addresses of one pool as a node sees them; `take` and `give` change it in place. */
export class FreeSpace {
  private readonly sorted: Interval[];
  private count: bigint;

  constructor(set: IntervalSet) {
    this.sorted = [...set.intervals()];
    this.count = set.size;
  }

  get size(): bigint {
    return this.count;
  }

  toSet(): IntervalSet {
    return IntervalSet.of(this.sorted);
  }

  has(value: bigint): boolean {
    return hasMember(this.sorted, value);
  }

  /** False if it was not free. */
  take(value: bigint): boolean {
    const index = indexAtOrAfter(this.sorted, value);
    const around = this.sorted[index];
    if (around === undefined || value < around.first) return false;
    const rest: Interval[] = [];
    if (around.first < value) rest.push({ first: around.first, last: value - 1n });
    if (value < around.last) rest.push({ first: value + 1n, last: around.last });
    this.sorted.splice(index, 1, ...rest);
    this.count -= 1n;
    return true;
  }

  /** Makes `value` free, whether or not it ever was: that it belongs to the pool is the caller's knowledge. False if it was free. */
  give(value: bigint): boolean {
    const index = indexAtOrAfter(this.sorted, value - 1n);
    const before = this.sorted[index];
    if (before !== undefined && before.first <= value && value <= before.last) return false;
    const touchesBefore = before?.last === value - 1n;
    const afterIndex = touchesBefore ? index + 1 : index;
    const after = this.sorted[afterIndex];
    const touchesAfter = after?.first === value + 1n;
    const first = touchesBefore ? before.first : value;
    const last = touchesAfter ? after.last : value;
    this.sorted.splice(index, Number(touchesBefore) + Number(touchesAfter), { first, last });
    this.count += 1n;
    return true;
  }

  /** Smallest free address at or above `from`, else the lowest of all. */
  next(from: bigint): bigint | null {
    return nextMember(this.sorted, from);
  }

  /** Like `next`, among every nth address only. */
  nextOf(residue: Residue, from: bigint): bigint | null {
    return nextOfResidue(this.sorted, from, residue);
  }

  countOf(residue: Residue): bigint {
    return countOfResidue(this.sorted, residue);
  }

  lowest(): bigint | null {
    return this.sorted[0]?.first ?? null;
  }

  /** Counted from 0 in the order of the addresses. */
  nth(index: bigint): bigint | null {
    return nthMember(this.sorted, index);
  }
}

/** Every `modulus`th address: those that leave `rest` when divided by it. */
export interface Residue {
  readonly modulus: bigint;
  readonly rest: bigint;
}

/** Smallest member of `residue` at or above `from`; past the end it wraps to the lowest. */
function nextOfResidue(intervals: SortedIntervals, from: bigint, residue: Residue): bigint | null {
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

function countOfResidue(intervals: SortedIntervals, residue: Residue): bigint {
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
