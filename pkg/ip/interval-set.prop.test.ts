import fc from 'fast-check';
import { expect, test } from 'vitest';
import { highestAddress } from './address.ts';
import { type Interval, IntervalSet } from './interval-set.ts';

const UNIVERSE = 40;
const OFFSETS = [0n, highestAddress(4) - BigInt(UNIVERSE), highestAddress(6) - BigInt(UNIVERSE)];

const offset = fc.constantFrom(...OFFSETS);
const shortIntervals = fc.array(
  fc.tuple(fc.nat(UNIVERSE), fc.nat(8)).map(([first, span]) => [first, Math.min(first + span, UNIVERSE)] as const),
  { maxLength: 12 },
);
const sample = fc.record({ offset, left: shortIntervals, right: shortIntervals }).map(({ offset, left, right }) => {
  const shift = (pairs: typeof left) =>
    pairs.map(([first, last]): Interval => ({ first: offset + BigInt(first), last: offset + BigInt(last) }));
  return { offset, left: shift(left), right: shift(right) };
});

function membersOf(intervals: readonly Interval[]): Set<bigint> {
  const members = new Set<bigint>();
  for (const { first, last } of intervals) for (let value = first; value <= last; value += 1n) members.add(value);
  return members;
}

function expectSame(actual: IntervalSet, model: Set<bigint>): void {
  const ascending = [...model].sort((a, b) => (a < b ? -1 : 1));
  expect([...membersOf(actual.intervals())]).toEqual(ascending);
  expect(actual.size).toBe(BigInt(model.size));
  expect(actual.isEmpty).toBe(model.size === 0);
  let end: bigint | null = null;
  for (const { first, last } of actual.intervals()) {
    expect(first <= last && (end === null || first > end + 1n)).toBe(true);
    end = last;
  }
}

test('union, intersection and difference are those of sets', () => {
  fc.assert(
    fc.property(sample, ({ left, right }) => {
      const [a, b] = [IntervalSet.of(left), IntervalSet.of(right)];
      const [modelA, modelB] = [membersOf(left), membersOf(right)];
      expectSame(a, modelA);
      expectSame(a.union(b), modelA.union(modelB));
      expectSame(a.intersect(b), modelA.intersection(modelB));
      expectSame(a.subtract(b), modelA.difference(modelB));
      expect(a.isSubsetOf(b)).toBe(modelA.isSubsetOf(modelB));
      expect(a.intersect(b).isSubsetOf(a)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('the laws of sets hold', () => {
  fc.assert(
    fc.property(sample, ({ left, right }) => {
      const [a, b] = [IntervalSet.of(left), IntervalSet.of(right)];
      expect(a.union(b).equals(b.union(a))).toBe(true);
      expect(a.intersect(b).equals(b.intersect(a))).toBe(true);
      expect(a.subtract(b).union(a.intersect(b)).equals(a)).toBe(true);
      expect(a.subtract(b).intersect(b).isEmpty).toBe(true);
      expect(a.subtract(a).equals(IntervalSet.EMPTY)).toBe(true);
      expect(a.equals(b)).toBe(membersOf(left).symmetricDifference(membersOf(right)).size === 0);
    }),
    { numRuns: 500 },
  );
});

test('lookups agree with the sorted members', () => {
  fc.assert(
    fc.property(sample, ({ offset, left }) => {
      const actual = IntervalSet.of(left);
      const ascending = [...membersOf(left)].sort((a, b) => (a < b ? -1 : 1));
      expect(actual.lowest()).toBe(ascending[0] ?? null);
      for (let index = -1; index <= ascending.length; index += 1) {
        expect(actual.nth(BigInt(index))).toBe(ascending[index] ?? null);
      }
      for (let value = offset - 1n; value <= offset + BigInt(UNIVERSE) + 1n; value += 1n) {
        expect(actual.contains(value)).toBe(ascending.includes(value));
        expect(actual.next(value)).toBe(ascending.find((member) => member >= value) ?? ascending[0] ?? null);
      }
    }),
  );
});
