import { expect, test } from 'vitest';
import { clip, isPlainText, quote } from './text-bounds.ts';

test.each([
  { text: 'short', max: 5, clipped: 'short' },
  { text: 'longer', max: 5, clipped: 'long…' },
  { text: 'abc😀', max: 4, clipped: 'abc…' },
  { text: 'ab😀cd', max: 4, clipped: 'ab…' },
])('$text is clipped to $max as $clipped', ({ text, max, clipped }) => {
  expect(clip(text, max)).toBe(clipped);
});

test.each(['a\nb', 'a\u0000', '\u007f', 'toolong'])('%j is not plain', (text) => {
  expect(isPlainText(text, 4)).toBe(false);
});

test('a quote is short', () => {
  expect(quote('x'.repeat(1000))).toHaveLength(82);
});

test('a quote cannot forge a second line', () => {
  expect(quote('a\nb"')).toBe('"a\\nb\\""');
});
