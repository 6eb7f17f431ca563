import { expect, test } from 'vitest';
import { FreshReads } from './fresh-reads.ts';

function stand() {
  let nowMs = 1_000;
  let reads = 0;
  const fresh = new FreshReads(() => nowMs, 5_000);
  const read = (notBeforeMs: number) => fresh.read('key', notBeforeMs, async () => ++reads);
  return { fresh, read, pass: (ms: number) => (nowMs += ms) };
}

test('a read is shared by those who asked for the world as it was before it', async () => {
  const { read, pass } = stand();
  expect(await Promise.all([read(500), read(900)])).toEqual([1, 1]);
  pass(1_000);
  expect(await read(1_000)).toBe(1);
});

test('a record that was seen after the read needs another one', async () => {
  const { read, pass } = stand();
  await read(0);
  pass(1_000);
  expect(await read(1_500)).toBe(2);
});

test('it is not shared for long', async () => {
  const { read, pass } = stand();
  await read(0);
  pass(5_000);
  expect(await read(0)).toBe(2);
});

test('a read that failed is not shared with later ones', async () => {
  const { fresh, read } = stand();
  await expect(fresh.read('key', 0, () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  expect(await read(0)).toBe(1);
});
