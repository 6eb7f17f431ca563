import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { KeyedQueue } from './call.ts';

test('tasks of one key run one after the other, in order', async () => {
  const queue = new KeyedQueue();
  const seen: string[] = [];
  const slow = queue.run(['a'], async () => {
    seen.push('slow starts');
    await sleep(20);
    seen.push('slow ends');
  });
  const fast = queue.run(['a'], async () => {
    seen.push('fast');
  });
  await Promise.all([slow, fast]);
  expect(seen).toEqual(['slow starts', 'slow ends', 'fast']);
});

test('tasks of different keys do not wait for each other', async () => {
  const queue = new KeyedQueue();
  const never = Promise.withResolvers<void>();
  const stuck = queue.run(['a'], () => never.promise);
  await expect(queue.run(['b'], async () => 'done')).resolves.toBe('done');
  never.resolve();
  await stuck;
});

test('a task with two keys waits for both, and holds both', async () => {
  const queue = new KeyedQueue();
  const seen: string[] = [];
  const gateA = Promise.withResolvers<void>();
  const a = queue.run(['a'], () => gateA.promise.then(() => void seen.push('a')));
  const both = queue.run(['a', 'b'], async () => void seen.push('both'));
  const b = queue.run(['b'], async () => void seen.push('b'));
  await sleep(5);
  expect(seen).toEqual([]);
  gateA.resolve();
  await Promise.all([a, both, b]);
  expect(seen).toEqual(['a', 'both', 'b']);
});

test('a failing task fails its caller only, and nothing is remembered afterwards', async () => {
  const queue = new KeyedQueue();
  await expect(queue.run(['a'], async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(queue.run(['a'], async () => 1)).resolves.toBe(1);
  await sleep(0);
  expect(queue.size).toBe(0);
});
