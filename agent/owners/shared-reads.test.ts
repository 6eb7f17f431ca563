import { expect, test } from 'vitest';
import { turnedClock } from '#test/support/turned-clock.ts';
import { SharedReads } from './shared-reads.ts';

/** Counts up: what the nth read found is n. */
function setUp({ freshMs = 10_000, most = 3 } = {}) {
  const clock = turnedClock();
  const reads = new SharedReads<number>({ freshMs, most, nowMs: clock.nowMs });
  let count = 0;
  const read = async () => {
    count += 1;
    return count;
  };
  return { clock, find: (key: string, atLeast = 0) => reads.find(key, read, (value) => value >= atLeast) };
}

test('all who ask at once share one read, and so does who asks a little later', async () => {
  const { clock, find } = setUp();
  expect(await Promise.all([find('a'), find('a'), find('a')])).toEqual([1, 1, 1]);
  clock.turn(9_000);
  expect(await find('a')).toBe(1);
  expect(await find('b')).toBe(2);
});

test('what was read too long ago is read again', async () => {
  const { clock, find } = setUp();
  await find('a');
  clock.turn(10_000);
  expect(await find('a')).toBe(2);
});

test('what is not enough is read again, once for all who ask: it may have changed since', async () => {
  const { find } = setUp();
  await find('a');
  expect(await Promise.all([find('a', 2), find('a', 2), find('a', 2)])).toEqual([2, 2, 2]);
});

test('what was read after the call began is taken, enough or not', async () => {
  const { find } = setUp();
  expect(await find('a', 99)).toBe(1);
  expect(await Promise.all([find('a', 99), find('a', 99)])).toEqual([2, 2]);
});

test('the oldest is forgotten when there is no more room', async () => {
  const { find } = setUp({ most: 2 });
  await find('a');
  await find('b');
  await find('c');
  expect([await find('b'), await find('c'), await find('a')]).toEqual([2, 3, 4]);
});
