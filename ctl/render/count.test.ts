import { expect, test } from 'vitest';
import { toCountText } from './count.ts';

test.each([
  { name: 'nothing', count: 0n, text: '0' },
  { name: 'a /24', count: 254n, text: '254' },
  { name: 'the largest count shown digit by digit', count: 9_999_999n, text: '9999999' },
  { name: 'a /8', count: 1n << 24n, text: '2^24' },
  { name: 'a /64', count: 1n << 64n, text: '2^64' },
  { name: 'a /64 with a few taken', count: (1n << 64n) - 3n, text: '2^64-3' },
  { name: 'a little more than a /64', count: (1n << 64n) + 254n, text: '2^64+254' },
  { name: 'all of IPv6', count: 1n << 128n, text: '2^128' },
  { name: 'between two powers', count: 3n << 62n, text: '~2^63.6' },
  { name: 'ten million', count: 10_000_000n, text: '~2^23.3' },
])('$name', ({ count, text }) => {
  expect(toCountText(count)).toBe(text);
});
