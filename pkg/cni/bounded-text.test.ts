import { expect, test } from 'vitest';
import { clip, isContainerId, isInterfaceName, isNetworkName, isPlainText, quote } from './bounded-text.ts';

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

test.each([
  { text: 'a'.repeat(128), valid: true },
  { text: '0_.-Z', valid: true },
  { text: 'a'.repeat(129), valid: false },
  { text: '', valid: false },
  { text: '-a', valid: false },
  { text: '.a', valid: false },
  { text: 'a/b', valid: false },
  { text: 'a\n', valid: false },
  { text: 'ä', valid: false },
])('container ID $text: $valid', ({ text, valid }) => {
  expect(isContainerId(text)).toBe(valid);
});

test('network names follow the same form and may be as long as a DNS name', () => {
  expect(isNetworkName('a'.repeat(253))).toBe(true);
  expect(isNetworkName('a'.repeat(254))).toBe(false);
  expect(isNetworkName('../x')).toBe(false);
});

test.each([
  { text: 'eth0', valid: true },
  { text: 'a'.repeat(15), valid: true },
  { text: 'vlan@é', valid: true },
  { text: 'a'.repeat(16), valid: false },
  { text: 'é'.repeat(7), valid: true },
  { text: 'é'.repeat(8), valid: false },
  { text: '😀'.repeat(4), valid: false },
  { text: '', valid: false },
  { text: '.', valid: false },
  { text: '..', valid: false },
  { text: 'a/b', valid: false },
  { text: 'a:1', valid: false },
  { text: 'a b', valid: false },
  { text: 'a\u00a0b', valid: false },
  { text: 'a\u0000', valid: false },
  { text: 'a\ud800', valid: false },
])('interface name $text: $valid', ({ text, valid }) => {
  expect(isInterfaceName(text)).toBe(valid);
});
