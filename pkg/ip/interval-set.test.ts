import { describe, expect, test } from 'vitest';
import { highestAddress } from './address.ts';
import { parseCidr } from './cidr.ts';
import { type Interval, IntervalSet } from './interval-set.ts';

const set = (...pairs: [first: bigint, last: bigint][]) =>
  IntervalSet.of(pairs.map(([first, last]) => ({ first, last })));
const pairs = (from: IntervalSet) => from.intervals().map(({ first, last }) => [first, last]);

test.each([
  [
    'sorts',
    set([5n, 6n], [1n, 2n]),
    [
      [1n, 2n],
      [5n, 6n],
    ],
  ],
  ['merges what overlaps', set([1n, 5n], [3n, 9n]), [[1n, 9n]]],
  ['merges what touches', set([1n, 2n], [3n, 4n]), [[1n, 4n]]],
  [
    'keeps a gap of one',
    set([1n, 2n], [4n, 5n]),
    [
      [1n, 2n],
      [4n, 5n],
    ],
  ],
  ['swallows what lies inside', set([1n, 9n], [3n, 4n], [5n, 6n]), [[1n, 9n]]],
])('of() %s', (_, actual, expected) => {
  expect(pairs(actual)).toEqual(expected);
});

test('of() refuses a reversed interval', () => {
  expect(() => set([2n, 1n])).toThrow(RangeError);
});

test.each([
  [
    'a hole in the middle',
    set([1n, 9n]),
    set([4n, 5n]),
    [
      [1n, 3n],
      [6n, 9n],
    ],
  ],
  ['the first and the last', set([1n, 9n]), set([1n, 1n], [9n, 9n]), [[2n, 8n]]],
  [
    'one hole across two intervals',
    set([1n, 4n], [6n, 9n]),
    set([3n, 7n]),
    [
      [1n, 2n],
      [8n, 9n],
    ],
  ],
  ['everything', set([1n, 4n], [6n, 9n]), set([0n, 10n]), []],
  ['nothing', set([1n, 4n]), set([5n, 9n]), [[1n, 4n]]],
])('subtract() takes away %s', (_, from, holes, expected) => {
  expect(pairs(from.subtract(holes))).toEqual(expected);
});

test('an empty set answers null and zero', () => {
  const empty = IntervalSet.EMPTY;
  expect([empty.size, empty.isEmpty, empty.contains(0n)]).toEqual([0n, true, false]);
  expect([empty.lowest(), empty.next(0n), empty.nth(0n)]).toEqual([null, null, null]);
});

test('next() wraps past the end', () => {
  expect([0n, 2n, 3n, 6n, 7n].map((from) => set([2n, 2n], [5n, 6n]).next(from))).toEqual([2n, 2n, 5n, 6n, 2n]);
});

test.each<[text: string, highest: bigint]>([
  ['IPv4', highestAddress(4)],
  ['IPv6', highestAddress(6)],
])('the whole of %s is one interval, up to its ends', (_, highest) => {
  const whole = set([0n, highest]);
  expect(whole.size).toBe(highest + 1n);
  expect([whole.nth(0n), whole.nth(highest), whole.nth(highest + 1n), whole.nth(-1n)]).toEqual([
    0n,
    highest,
    null,
    null,
  ]);
  expect([whole.contains(highest), whole.contains(highest + 1n), whole.contains(-1n)]).toEqual([true, false, false]);
  expect(pairs(whole.subtract(set([0n, 0n], [highest, highest])))).toEqual([[1n, highest - 1n]]);
  expect([whole.next(highest), whole.next(highest + 1n)]).toEqual([highest, 0n]);
});

describe('an IPv6 /32 with 10,000 ranges taken out', () => {
  const net = parseCidr('2001:db8::/32');
  const holes: Interval[] = Array.from({ length: 10_000 }, (_, index) => {
    const first = net.first + (BigInt(index) << 64n) + 0x1000n;
    return { first, last: first + 0xffn };
  });
  const rest = IntervalSet.of([net]).subtract(IntervalSet.of(holes));

  test('is 10,001 intervals and counts exactly', () => {
    expect(rest.intervals()).toHaveLength(10_001);
    expect(rest.size).toBe((1n << 96n) - 10_000n * 256n);
  });

  test('steps over each hole', () => {
    for (const hole of [holes[0], holes[5_000], holes[9_999]]) {
      if (hole === undefined) throw new Error('no such hole');
      expect([hole.first - 1n, hole.first, hole.last, hole.last + 1n].map((value) => rest.contains(value))).toEqual([
        true,
        false,
        false,
        true,
      ]);
      expect(rest.next(hole.first)).toBe(hole.last + 1n);
    }
  });

  test('finds a member by its number', () => {
    expect(rest.nth(0x1000n)).toBe(net.first + 0x1100n);
    expect(rest.nth(rest.size - 1n)).toBe(net.last);
    expect(rest.nth(rest.size)).toBeNull();
  });

  test('is whole again with the holes put back', () => {
    expect(rest.union(IntervalSet.of(holes)).equals(IntervalSet.of([net]))).toBe(true);
  });
});
