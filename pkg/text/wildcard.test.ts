import { expect, test } from 'vitest';
import { compilePattern } from './wildcard.ts';

test.each([
  { pattern: '*', name: 'anything', expected: true },
  { pattern: '*', name: '', expected: true },
  { pattern: '*', name: 'a/b', expected: false },
  { pattern: 'a*/b', name: 'a/c/b', expected: false },
  { pattern: 'a*b', name: 'ab', expected: true },
  { pattern: 'a*b', name: 'axxbxxb', expected: true },
  { pattern: 'a*b', name: 'axxbxx', expected: false },
  { pattern: 'prod-*-v4', name: 'prod-east-1-v4', expected: true },
  { pattern: 'prod-*-v4', name: 'prod-v4', expected: false },
  { pattern: 'pool-?', name: 'pool-1', expected: true },
  { pattern: 'pool-?', name: 'pool-', expected: false },
  { pattern: 'pool-?', name: 'pool-12', expected: false },
  { pattern: 'pool-?', name: 'pool-/', expected: false },
  { pattern: 'pool-?', name: 'pool-😀', expected: true },
  { pattern: 'pool-[a-c]', name: 'pool-b', expected: true },
  { pattern: 'pool-[a-c]', name: 'pool-d', expected: false },
  { pattern: 'pool-[ac]', name: 'pool-b', expected: false },
  { pattern: 'pool-[a-c0-9]', name: 'pool-7', expected: true },
  { pattern: 'pool-[^a-c]', name: 'pool-b', expected: false },
  { pattern: 'pool-[^a-c]', name: 'pool-d', expected: true },
  { pattern: 'pool-[^a-c]', name: 'pool-', expected: false },
  { pattern: 'pool-[c-a]', name: 'pool-b', expected: false },
  { pattern: 'pool-[\\]\\-]', name: 'pool-]', expected: true },
  { pattern: 'pool-[\\]\\-]', name: 'pool--', expected: true },
  { pattern: '[a^]', name: '^', expected: true },
  { pattern: 'pool-[à-ü]', name: 'pool-ö', expected: true },
  { pattern: 'pool-[^à-ü]', name: 'pool-ö', expected: false },
  { pattern: 'pool-[z-ü]', name: 'pool-{', expected: true },
  { pattern: 'pool-[z-ü]', name: 'pool-a', expected: false },
  { pattern: '*?b*??', name: 'abcd', expected: true },
  { pattern: '*?b*???', name: 'abcd', expected: false },
  { pattern: 'a]', name: 'a]', expected: true },
  { pattern: 'pool-\\*', name: 'pool-*', expected: true },
  { pattern: 'pool-\\*', name: 'pool-1', expected: false },
  { pattern: 'po+l.*', name: 'po+l.x', expected: true },
  { pattern: 'po+l.*', name: 'pool.x', expected: false },
  { pattern: 'POOL-*', name: 'pool-1', expected: false },
  // Go's own answer: an earlier star is not stretched again once the next one was met.
  { pattern: '*[^x]*b', name: 'qa/b', expected: false },
])('$pattern on $name: $expected', ({ pattern, name, expected }) => {
  expect(compilePattern(pattern)(name)).toBe(expected);
});

test.each([
  '[',
  '[]',
  '[]a]',
  '[^]',
  '[^',
  '[a',
  '[a-',
  '[a-]',
  '[-a]',
  '[-]',
  '[a\\',
  '[\\',
  '*\\',
  'x[a]b[',
  '[a-b-c]',
])('%s is malformed, and the error names it', (pattern) => {
  const error = expect.objectContaining({
    reason: 'bad-input',
    message: `malformed pattern ${JSON.stringify(pattern)}`,
  });
  expect(() => compilePattern(pattern)).toThrow(error);
});

test('a pattern made to blow up a backtracking matcher is answered at once', () => {
  const isMatch = compilePattern(`${'a*'.repeat(120)}b`);
  const startedAt = performance.now();
  expect(isMatch('a'.repeat(253))).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(500);
});
