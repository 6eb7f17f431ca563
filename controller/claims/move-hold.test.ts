import { expect, test } from 'vitest';
import { findMoveHold } from './move-hold.ts';

test('a pool waits for what a move brings, not for the claim itself, and not for ever', () => {
  const now = new Date('2026-11-18T16:05:00Z');
  const expected = [{ key: 'prod/moved', untilMs: Date.parse('2026-11-18T16:10:00Z') }];
  expect(findMoveHold('lab', 'prod/vm-0', expected, now)).toEqual({
    why: expect.stringContaining('pool lab gives out nothing new'),
    leftMs: 300_000,
  });
  expect(findMoveHold('lab', 'prod/moved', expected, now)).toBeNull();
  expect(findMoveHold('lab', 'prod/vm-0', expected, new Date('2026-11-18T16:10:00Z'))).toBeNull();
});

test('a claim that waits for a move is told the same, whichever IPAddress came: its status is written once', () => {
  const now = new Date('2026-11-18T16:05:00Z');
  const moved = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
    key: `prod/${name}`,
    untilMs: Date.parse('2026-11-18T16:10:00Z'),
  }));
  const told = moved.map((_, came) => findMoveHold('lab', 'prod/vm-0', moved.slice(came), now)?.why);
  expect(new Set(told).size).toBe(1);
});
