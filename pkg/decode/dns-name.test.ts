import { expect, test } from 'vitest';
import { asDnsLabel, asDnsSubdomain } from './dns-name.ts';

test.each(['a', '0', 'blue', 'a-b', 'a'.repeat(63)])('the label %s is good', (text) => {
  expect(asDnsLabel(text, 'x')).toBe(text);
});

test.each(['', '-a', 'a-', 'A', 'a.b', 'a_b', 'a b', 'a\n', 'ä'])('the label %j is refused', (text) => {
  expect(() => asDnsLabel(text, 'x')).toThrow(/^x: .* is not a DNS label/);
});

test.each(['a', 'pool-a', 'pool.a', '10.0.2.50', 'a'.repeat(253)])('the name %s is good', (text) => {
  expect(asDnsSubdomain(text, 'x')).toBe(text);
});

test.each(['', '.', 'a.', '.a', 'a..b', 'a.-b', 'Pool', 'a/b', 'a\n'])('the name %j is refused', (text) => {
  expect(() => asDnsSubdomain(text, 'x')).toThrow(/^x: .* is not a DNS name/);
});

test('names have a length', () => {
  expect(() => asDnsLabel('a'.repeat(64), 'x')).toThrow('is longer than 63 characters');
  expect(() => asDnsSubdomain('a'.repeat(254), 'x')).toThrow('is longer than 253 characters');
});
