import { expect, test } from 'vitest';
import { planOverlapCondition } from './overlap-condition.ts';

const NOW = new Date('2026-05-19T09:00:00Z');
const NOTE = 'pool a/b and pool pods both hold 10.0.2.50-10.0.2.60';
const THEIRS = {
  type: 'Ready',
  status: 'True',
  reason: 'Provisioned',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};
const plan = (before: unknown, note: string, now = NOW) => planOverlapCondition({ before, note, generation: 3, now });
const WRITTEN = plan([THEIRS], NOTE) ?? [];

test('it is said beside the conditions of others, once', () => {
  expect(WRITTEN).toEqual([
    {
      type: 'ipledger.io/Overlap',
      status: 'True',
      reason: 'SharedAddresses',
      message: NOTE,
      observedGeneration: 3,
      lastTransitionTime: '2026-05-19T09:00:00Z',
    },
    THEIRS,
  ]);
  expect(plan(WRITTEN, NOTE)).toBeNull();
});

test('another range keeps the time since when it overlaps', () => {
  const later = plan(WRITTEN, 'another', new Date('2026-06-01T00:00:00Z'));
  expect(later?.[0]).toMatchObject({ message: 'another', lastTransitionTime: '2026-05-19T09:00:00Z' });
});

test('it goes with its cause, and nothing is written where it never was', () => {
  expect(plan(WRITTEN, '')).toEqual([THEIRS]);
  expect(plan([THEIRS], '')).toBeNull();
  expect(plan('nonsense', '')).toBeNull();
});
