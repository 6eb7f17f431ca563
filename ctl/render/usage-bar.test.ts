import { expect, test } from 'vitest';
import { toUsageBar } from './usage-bar.ts';

test.each([
  { name: 'empty', used: 0n, free: 254n, bar: '[--------------------] 0%' },
  { name: 'one of many', used: 1n, free: 2n ** 64n - 1n, bar: '[#-------------------] <1%' },
  { name: 'half', used: 5n, free: 5n, bar: '[##########----------] 50%' },
  { name: 'all but one', used: 999n, free: 1n, bar: '[###################-] 99%' },
  { name: 'full', used: 2n, free: 0n, bar: '[####################] 100%' },
  { name: 'no address at all', used: 0n, free: 0n, bar: '[--------------------] none' },
])('$name', ({ used, free, bar }) => {
  expect(toUsageBar(used, free)).toBe(bar);
});
