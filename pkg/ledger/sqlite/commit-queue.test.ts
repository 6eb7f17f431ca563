import { expect, test } from 'vitest';
import { CommitQueue } from './commit-queue.ts';

test('writes of one turn share a transaction, in their order', async () => {
  const log: string[] = [];
  const queue = new CommitQueue((work) => {
    log.push('begin');
    work();
    log.push('commit');
  });
  const outcomes = await Promise.all(['a', 'b', 'c'].map((name) => queue.submit(() => log.push(name))));
  await queue.submit(() => log.push('d'));
  expect(log).toEqual(['begin', 'a', 'b', 'c', 'commit', 'begin', 'd', 'commit']);
  expect(outcomes).toEqual([2, 3, 4]);
});

test('nobody hears of a write before the commit', async () => {
  const log: string[] = [];
  const queue = new CommitQueue((work) => {
    work();
    log.push('commit');
  });
  await Promise.all([1, 2].map((n) => queue.submit(() => n).then(() => log.push('told'))));
  expect(log).toEqual(['commit', 'told', 'told']);
});

test('a commit that fails rejects its whole batch and no other', async () => {
  let isFull = true;
  const queue = new CommitQueue((work) => {
    work();
    if (isFull) throw new Error('disk full');
  });
  const batch = await Promise.allSettled([queue.submit(() => 1), queue.submit(() => 2)]);
  expect(batch.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isFull = false;
  expect(await queue.submit(() => 3)).toBe(3);
});

test('flush does not wait for the turn to end', async () => {
  const queue = new CommitQueue((work) => work());
  let isDone = false;
  const submitted = queue.submit(() => {
    isDone = true;
  });
  queue.flush();
  expect(isDone).toBe(true);
  await submitted;
});
