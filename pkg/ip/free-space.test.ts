import { expect, test } from 'vitest';
import { highestAddress } from './address.ts';
import { FreeSpace } from './free-space.ts';
import { IntervalSet } from './interval-set.ts';

const spaceOf = (first: bigint, last: bigint) => new FreeSpace(IntervalSet.of([{ first, last }]));

test('an address is taken once', () => {
  const space = spaceOf(1n, 3n);
  expect([space.take(2n), space.take(2n), space.size]).toEqual([true, false, 2n]);
});

test('an address outside is not free', () => {
  expect(spaceOf(1n, 3n).take(4n)).toBe(false);
  expect(spaceOf(1n, 3n).take(0n)).toBe(false);
});

test('giving back twice counts once', () => {
  const space = spaceOf(1n, 3n);
  space.take(2n);
  space.give(2n);
  space.give(2n);
  expect([space.size, space.has(2n)]).toEqual([3n, true]);
});

test('the set it was made from does not change', () => {
  const set = IntervalSet.of([{ first: 1n, last: 3n }]);
  new FreeSpace(set).take(2n);
  expect(set.intervals()).toEqual([{ first: 1n, last: 3n }]);
});

test.each([0n, highestAddress(4), highestAddress(6)])('the edge %s can be taken and given', (edge) => {
  const space = spaceOf(edge, edge);
  expect([space.take(edge), space.lowest(), space.next(0n), space.nth(0n)]).toEqual([true, null, null, null]);
  space.give(edge);
  expect([space.size, space.next(edge)]).toEqual([1n, edge]);
});

test('every second address of 200,000 can be taken and all come back as one interval', () => {
  const space = spaceOf(0n, 199_999n);
  for (let value = 0n; value < 200_000n; value += 2n) space.take(value);
  expect([space.size, space.next(100_000n), space.next(199_999n), space.lowest()]).toEqual([
    100_000n,
    100_001n,
    199_999n,
    1n,
  ]);
  for (let value = 199_998n; value >= 0n; value -= 2n) space.give(value);
  expect([space.size, space.nth(99_999n)]).toEqual([200_000n, 99_999n]);
});
