import { expect, test } from 'vitest';
import { listSome } from './text-list.ts';

test.each([
  { name: 'nothing', items: [], expected: '' },
  { name: 'as many as may be shown', items: ['a', 'b'], expected: 'a, b' },
  { name: 'more than may be shown', items: ['a', 'b', 'c', 'd'], expected: 'a, b … and 2 more' },
  { name: 'a long item is cut', items: ['x'.repeat(500)], expected: `${'x'.repeat(79)}…` },
])('$name', ({ items, expected }) => {
  expect(listSome(items, 2)).toBe(expected);
});
