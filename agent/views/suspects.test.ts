import { expect, test } from 'vitest';
import { Suspects } from './suspects.ts';

function suspectsOf(...values: bigint[]): Suspects {
  const suspects = new Suspects();
  suspects.replace(values);
  return suspects;
}

test('each is handed out once, until it has rested', () => {
  const suspects = suspectsOf(1n, 2n, 3n);
  const ask = (nowMs: number) => suspects.next(nowMs);
  expect([ask(0), ask(0), ask(1_000), ask(1_000)]).toEqual([1n, 2n, 3n, null]);
  expect([ask(4_999), ask(5_000), ask(5_000), ask(5_000)]).toEqual([null, 1n, 2n, null]);
});

test('one that could not be probed does not rest', () => {
  const suspects = suspectsOf(1n, 2n);
  suspects.next(0);
  suspects.giveBack(1n);
  expect(suspects.next(0)).toBe(1n);
});

test('one that rests does so beyond the next load of the pool', () => {
  const suspects = suspectsOf(1n, 2n);
  suspects.next(0);
  suspects.replace([1n, 3n]);
  expect([suspects.next(0), suspects.next(0)]).toEqual([3n, null]);
});
