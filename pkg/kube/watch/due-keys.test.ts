import { expect, test } from 'vitest';
import { DueKeys } from './due-keys.ts';

/** Node.js takes a longer time for one millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

test('a key that is due in a month gets a timer that does not fire at once', () => {
  const timers: number[] = [];
  const setTimer = (ms: number) => {
    timers.push(ms);
    return () => {};
  };
  const due = new DueKeys({ nowMs: () => 7, setTimer } as never, () => {});
  due.add('vm', 2_592_000_000);
  expect(timers).toHaveLength(1);
  expect(timers[0]).toBeGreaterThan(LONGEST_TIMER_MS - 1_000);
  expect(timers[0]).toBeLessThanOrEqual(LONGEST_TIMER_MS);
});
