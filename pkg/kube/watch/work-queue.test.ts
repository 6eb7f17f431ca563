import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { WorkQueue } from './work-queue.ts';

const unexpected: string[] = [];
const noTrouble = (key: string, thrown: unknown) => void unexpected.push(`${key}: ${thrown}`);
afterEach(() => expect(unexpected.splice(0)).toEqual([]));

test('a key added many times before its turn is worked on once', async () => {
  const seen: string[] = [];
  await using queue = new WorkQueue({ reconcile: async (key) => void seen.push(key), onTrouble: noTrouble });
  for (const key of ['a', 'a', 'b', 'a']) queue.add(key);
  await vi.waitFor(() => expect(queue.size).toBe(0), 20_000);
  expect(seen).toEqual(['a', 'b']);
});

test('a key added while it is worked on gets one more turn, never two workers', async () => {
  let atWork = 0;
  let turns = 0;
  await using queue = new WorkQueue({
    onTrouble: noTrouble,
    reconcile: async () => {
      atWork += 1;
      turns += 1;
      expect(atWork).toBe(1);
      if (turns === 1) for (let more = 0; more < 3; more += 1) queue.add('a');
      await wait(20);
      atWork -= 1;
      return undefined;
    },
  });
  queue.add('a');
  await vi.waitFor(() => expect(queue.size).toBe(0), 20_000);
  expect(turns).toBe(2);
});

test('at most so many keys at once', async () => {
  let atWork = 0;
  let most = 0;
  await using queue = new WorkQueue({
    workers: 3,
    onTrouble: noTrouble,
    reconcile: async () => {
      atWork += 1;
      most = Math.max(most, atWork);
      await wait(5);
      atWork -= 1;
      return undefined;
    },
  });
  for (let key = 0; key < 20; key += 1) queue.add(String(key));
  await vi.waitFor(() => expect(queue.size).toBe(0), 20_000);
  expect(most).toBe(3);
});

test('a failing key is tried later and later, alone; success forgets the past', async () => {
  const pauses: number[] = [];
  const seen: string[] = [];
  let failures = 4;
  await using queue = new WorkQueue({
    backoff: { firstMs: 10, mostMs: 40 },
    timing: { nowMs: () => performance.now(), setTimer: (ms, run) => clearing(setTimeout(run, ms)), random: () => 1 },
    onTrouble: (_key, _thrown, retryInMs) => void pauses.push(retryInMs),
    reconcile: async (key) => {
      seen.push(key);
      if (key === 'bad' && failures > 0) {
        failures -= 1;
        throw new Error('not yet');
      }
      return undefined;
    },
  });
  queue.add('bad');
  queue.add('good');
  await vi.waitFor(() => expect(queue.size).toBe(0), 20_000);
  expect(pauses).toEqual([10, 20, 40, 40]);
  expect(seen.filter((key) => key === 'good')).toHaveLength(1);
  failures = 1;
  queue.add('bad');
  await vi.waitFor(() => expect(pauses).toHaveLength(5), 20_000);
  expect(pauses.at(-1)).toBe(10);
});

test('a handler of trouble that throws holds up no key', async () => {
  let failures = 2;
  let told = 0;
  await using queue = new WorkQueue({
    workers: 1,
    backoff: { firstMs: 5, mostMs: 5 },
    onTrouble: () => {
      told += 1;
      throw new Error('the handler is broken');
    },
    reconcile: async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('not yet');
      return undefined;
    },
  });
  queue.add('a');
  queue.add('b');
  await vi.waitFor(() => expect(queue.size).toBe(0), 20_000);
  expect(told).toBe(2);
});

test('a key can ask to be looked at again, the earliest wish counts', async () => {
  const at: number[] = [];
  await using queue = new WorkQueue({
    onTrouble: noTrouble,
    reconcile: async () => {
      at.push(performance.now());
      return at.length === 1 ? 60 : undefined;
    },
  });
  queue.add('a');
  await vi.waitFor(() => expect(at).toHaveLength(1), 20_000);
  queue.addAfter('a', 10_000);
  await vi.waitFor(() => expect(at).toHaveLength(2), 20_000);
  const [first = 0, second = 0] = at;
  expect(second - first).toBeGreaterThanOrEqual(55);
  expect(queue.size).toBe(0);
});

test('many keys that are done at once do not hold up the event loop', async () => {
  let turns = 0;
  let done = 0;
  let isOver = false;
  await using queue = new WorkQueue({
    onTrouble: noTrouble,
    reconcile: async () => {
      const endMs = performance.now() + 1;
      while (performance.now() < endMs);
      done += 1;
      return undefined;
    },
  });
  for (let key = 0; key < 100; key += 1) queue.addAfter(String(key), 5);
  const others = (async () => {
    for (; !isOver; turns += 1) await wait(1);
  })();
  await vi.waitFor(() => expect(queue.size).toBe(0), 20_000);
  isOver = true;
  await others;
  expect(done).toBe(100);
  expect(turns).toBeGreaterThanOrEqual(5);
});

test('stopping waits for the work under way and does no more', async () => {
  const seen: string[] = [];
  const queue = new WorkQueue({
    workers: 1,
    onTrouble: noTrouble,
    reconcile: async (key) => {
      await wait(30);
      seen.push(key);
      return undefined;
    },
  });
  for (const key of ['a', 'b']) queue.add(key);
  queue.addAfter('c', 1);
  await wait(10);
  await queue[Symbol.asyncDispose]();
  queue.add('d');
  await wait(50);
  expect(seen).toEqual(['a']);
});

function clearing(timer: NodeJS.Timeout): () => void {
  return () => clearTimeout(timer);
}
