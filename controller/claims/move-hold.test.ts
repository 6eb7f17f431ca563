import { expect, test } from 'vitest';
import { findMoveHold } from './move-hold.ts';

test('a pool waits for what a move brings, not for the claim itself, and not for ever', () => {
  const now = new Date('2026-11-18T16:05:00Z');
  const expected = [{ key: 'prod/moved', createdAt: '2026-11-18T16:00:00Z' }];
  expect(findMoveHold('lab', 'prod/vm-0', expected, now)).toEqual({
    why: expect.stringContaining('prod/moved'),
    leftMs: 300_000,
  });
  expect(findMoveHold('lab', 'prod/moved', expected, now)).toBeNull();
  expect(findMoveHold('lab', 'prod/vm-0', expected, new Date('2026-11-18T16:10:00Z'))).toBeNull();
});
