import { describe, expect, test } from 'vitest';
import { formatRange, parseRange } from './range.ts';

describe('parseRange reads', () => {
  test.each([
    ['10.0.0.5', { family: 4, first: 0x0a000005n, last: 0x0a000005n }],
    ['10.0.0.5-10.0.0.9', { family: 4, first: 0x0a000005n, last: 0x0a000009n }],
    ['10.0.0.5-10.0.0.5', { family: 4, first: 0x0a000005n, last: 0x0a000005n }],
    ['0.0.0.0-255.255.255.255', { family: 4, first: 0n, last: 0xffffffffn }],
    ['::1-::ff', { family: 6, first: 1n, last: 255n }],
  ])('%s', (text, range) => {
    expect(parseRange(text)).toEqual(range);
  });
});

describe('parseRange refuses', () => {
  test.each([
    ['a CIDR', '10.0.0.0/24', '"10.0.0.0/24" is in CIDR form; write a range such as 10.0.0.10-10.0.0.20'],
    [
      'a reversed range',
      '10.0.0.9-10.0.0.1',
      '10.0.0.9-10.0.0.1 is reversed: the first address must not be above the last',
    ],
    ['two families', '10.0.0.1-::2', '10.0.0.1-::2 mixes IPv4 and IPv6'],
    ['spaces', '10.0.0.1 - 10.0.0.2', '"10.0.0.1 " is not an IP address: it contains white space'],
    ['a shortened end', '10.0.0.1-9', '"9" is not an IP address'],
    ['an open end', '10.0.0.1-', '"" is not an IP address'],
    ['three parts', '10.0.0.1-10.0.0.2-10.0.0.3', '"10.0.0.2-10.0.0.3" is not an IP address'],
    ['nothing', '', '"" is not an IP address'],
  ])('%s', (_, text, message) => {
    expect(() => parseRange(text)).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
  });
});

test.each(['10.0.0.5', '10.0.0.5-10.0.0.9', 'fd00::1-fd00::ff'])('formatRange prints %s as it was read', (text) => {
  const range = parseRange(text);
  expect(formatRange(range.family, range)).toBe(text);
});
