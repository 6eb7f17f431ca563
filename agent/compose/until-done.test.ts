import { expect, test, vi } from 'vitest';
import { UntilDone } from './until-done.ts';

test('a task that fails is tried again until it succeeds, and then no more', async () => {
  const tries: number[] = [];
  const failures: unknown[] = [];
  const pauses: number[] = [];
  const task = async () => {
    tries.push(tries.length);
    if (tries.length < 4) throw new Error('away');
  };
  await using comparing = new UntilDone(
    task,
    (thrown) => failures.push(thrown),
    async (ms) => void pauses.push(ms),
  );
  comparing.start();
  await vi.waitUntil(() => tries.length === 4, { interval: 1 });
  await new Promise((resolve) => setImmediate(resolve));
  expect(tries).toHaveLength(4);
  expect(failures).toHaveLength(3);
  expect(pauses).toHaveLength(3);
  expect(Math.min(...pauses)).toBeGreaterThan(0);
});

test('who asks while it runs is answered by a run that began later', async () => {
  const ends: (() => void)[] = [];
  await using comparing = new UntilDone(
    () => new Promise<void>((resolve) => ends.push(resolve)),
    () => {},
  );
  comparing.start();
  comparing.start();
  comparing.start();
  ends[0]?.();
  await vi.waitUntil(() => ends.length === 2, { interval: 1 });
  ends[1]?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(ends).toHaveLength(2);
});

test('disposing ends a pause', async () => {
  const comparing = new UntilDone(
    async () => {
      throw new Error('away');
    },
    () => {},
  );
  comparing.start();
  await comparing[Symbol.asyncDispose]();
  comparing.start();
});
