import { expect, test } from 'vitest';
import { isContainerId, isInterfaceName, isNetworkName } from './names.ts';

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
