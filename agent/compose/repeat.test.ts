import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { oneAtATime, spreadOut } from './repeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a task that is asked for while it runs is run once more, for all who asked', async () => {
  const ends: (() => void)[] = [];
  const run = oneAtATime(() => new Promise((resolve) => void ends.push(resolve)));
  const first = run();
  await vi.advanceTimersByTimeAsync(0);
  const later = [run(), run()];
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await first;
  await vi.advanceTimersByTimeAsync(0);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await Promise.all(later);
  expect(ends).toHaveLength(2);
});

test('what is asked for often runs once within its time, and not after the end', async () => {
  let runs = 0;
  const count = async () => {
    runs += 1;
  };
  {
    using spread = spreadOut(count, 1_000, () => {});
    spread.ask();
    spread.ask();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(runs).toBe(1);
    spread.ask();
  }
  await vi.advanceTimersByTimeAsync(1_000);
  expect(runs).toBe(1);
});
