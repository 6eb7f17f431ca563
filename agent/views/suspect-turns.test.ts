import { expect, test } from 'vitest';
import { SuspectTurns } from './suspect-turns.ts';

const SUSPECTS = [1n, 2n, 3n];

test('each is asked about once, until it has rested', () => {
  const turns = new SuspectTurns();
  const ask = (nowMs: number) => turns.next(SUSPECTS, nowMs);
  expect([ask(0), ask(0), ask(1_000), ask(1_000)]).toEqual([1n, 2n, 3n, null]);
  expect([ask(4_999), ask(5_000), ask(5_000), ask(5_000)]).toEqual([null, 1n, 2n, null]);
});

test('one that nobody could ask about does not rest', () => {
  const turns = new SuspectTurns();
  turns.next(SUSPECTS, 0);
  turns.giveBack(1n);
  expect(turns.next(SUSPECTS, 0)).toBe(1n);
});
