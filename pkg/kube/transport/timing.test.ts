import { expect, test } from 'vitest';
import { pauseAfter } from './timing.ts';

test.each([
  { name: 'the server asked for nothing', failure: {}, backoffMs: 250, random: 0.9, pauseMs: 250 },
  {
    name: 'it asked for less than the backoff',
    failure: { retryAfterMs: 100 },
    backoffMs: 250,
    random: 0,
    pauseMs: 250,
  },
  { name: 'it asked for more', failure: { retryAfterMs: 1_000 }, backoffMs: 250, random: 0, pauseMs: 1_000 },
  { name: 'clients are spread', failure: { retryAfterMs: 1_000 }, backoffMs: 250, random: 0.5, pauseMs: 1_125 },
])('pauseAfter: $name', ({ failure, backoffMs, random, pauseMs }) => {
  expect(pauseAfter(failure, backoffMs, () => random)).toBe(pauseMs);
});
