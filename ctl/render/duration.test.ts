import { expect, test } from 'vitest';
import { toAgeText, toDurationText } from './duration.ts';

test.each([
  { name: 'now', ms: 0, text: '0s' },
  { name: 'under a minute', ms: 59_999, text: '59s' },
  { name: 'a minute', ms: 60_000, text: '1m' },
  { name: 'under an hour', ms: 3_599_000, text: '59m' },
  { name: 'hours', ms: 7_200_000, text: '2h' },
  { name: 'days', ms: 86_400_000 * 40, text: '40d' },
  { name: 'a clock behind the agent’s', ms: -5_000, text: '0s' },
])('$name', ({ ms, text }) => {
  expect(toDurationText(ms)).toBe(text);
});

test('the age of a record counts from its creation', () => {
  expect(toAgeText('2026-11-16T10:00:00Z', Date.parse('2026-11-16T10:05:10Z'))).toBe('5m');
});

test('an unreadable creation time has no age', () => {
  expect(toAgeText('yesterday', 0)).toBe('');
});
