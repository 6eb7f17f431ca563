import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inSlices } from './in-slices.ts';

const busyFor = (ms: number) => {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
};

test('others have their turns while many items are worked on, and every item is worked on once', async () => {
  const seen: number[] = [];
  let turns = 0;
  let isOver = false;
  const others = (async () => {
    for (; !isOver; turns += 1) await turn();
  })();
  const items = Array.from({ length: 60 }, (_, at) => at);
  await inSlices(items, (item) => {
    busyFor(1);
    seen.push(item);
  });
  isOver = true;
  await others;
  expect(seen).toEqual(items);
  expect(turns).toBeGreaterThanOrEqual(5);
});

test('few items are worked on at once', async () => {
  const seen: string[] = [];
  const done = inSlices(['a', 'b'], (item) => void seen.push(item));
  expect(seen).toEqual(['a', 'b']);
  await done;
});

test('it ends early when the signal fires', async () => {
  const stop = new AbortController();
  let count = 0;
  await inSlices(
    Array.from({ length: 1_000 }),
    () => {
      count += 1;
      busyFor(2);
      stop.abort();
    },
    stop.signal,
  );
  expect(count).toBeLessThan(10);
});
