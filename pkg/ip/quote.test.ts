import { expect, test } from 'vitest';
import { quote } from './quote.ts';

test.each([
  ['plain text', '10.0.0.1', '"10.0.0.1"'],
  ['quotes and line ends', 'a"b\n', '"a\\"b\\n"'],
  ['a terminal escape', '\u009b31m', '"\\u{9b}31m"'],
  ['a change of writing direction', 'a\u202eb', '"a\\u{202e}b"'],
  ['half a character', '\ud800', '"\\ud800"'],
  ['a letter of another script', 'ä', '"ä"'],
  ['80 characters', 'x'.repeat(80), `"${'x'.repeat(80)}"`],
  ['81 characters', 'x'.repeat(81), `"${'x'.repeat(79)}"…`],
])('quote shows %s', (_, text, expected) => {
  expect(quote(text)).toBe(expected);
});
