import { describe, expect, test } from 'vitest';
import { highestAddress, parseAddress } from './address.ts';
import { cidrContains, cidrsOverlap, enclosingCidr, formatCidr, parseAddressWithPrefix, parseCidr } from './cidr.ts';

describe('parseCidr reads', () => {
  test.each([
    ['10.0.0.0/24', { family: 4, prefix: 24, first: 0x0a000000n, last: 0x0a0000ffn }],
    ['0.0.0.0/0', { family: 4, prefix: 0, first: 0n, last: highestAddress(4) }],
    ['255.255.255.255/32', { family: 4, prefix: 32, first: highestAddress(4), last: highestAddress(4) }],
    ['::/0', { family: 6, prefix: 0, first: 0n, last: highestAddress(6) }],
    ['fd00::/64', { family: 6, prefix: 64, first: 0xfd00n << 112n, last: (0xfd00n << 112n) + (1n << 64n) - 1n }],
    ['::1/128', { family: 6, prefix: 128, first: 1n, last: 1n }],
  ])('%s', (text, cidr) => {
    expect(parseCidr(text)).toEqual(cidr);
  });
});

describe('parseCidr refuses', () => {
  test.each([
    ['host bits', '10.0.0.1/24', '10.0.0.1/24 has host bits set; did you mean 10.0.0.0/24?'],
    ['host bits of IPv6', 'fd00::1/64', 'fd00::1/64 has host bits set; did you mean fd00::/64?'],
    ['a bare address', '10.0.0.0', '"10.0.0.0" has no prefix length; expected a CIDR such as 10.0.0.0/24'],
    ['a prefix over 32', '10.0.0.0/33', '"10.0.0.0/33" has a bad prefix length; expected a number from 0 to 32'],
    ['a prefix over 128', 'fd00::/129', '"fd00::/129" has a bad prefix length; expected a number from 0 to 128'],
    ['a zero before', '10.0.0.0/08', '"10.0.0.0/08" has a bad prefix length; expected a number from 0 to 32'],
    ['no number', '10.0.0.0/', '"10.0.0.0/" has a bad prefix length; expected a number from 0 to 32'],
    ['a mask', '10.0.0.0/255.0.0.0', '"10.0.0.0/255.0.0.0" has a bad prefix length; expected a number from 0 to 32'],
    ['two slashes', '10.0.0.0/8/8', '"10.0.0.0/8/8" has a bad prefix length; expected a number from 0 to 32'],
    [
      'IPv4 in IPv6 form',
      '::ffff:10.0.0.0/24',
      '"::ffff:10.0.0.0/24" is IPv4 in IPv6 form; write 10.0.0.0 and an IPv4 prefix length',
    ],
    ['a bad address', '10.0.0/24', '"10.0.0" is not an IP address'],
  ])('%s', (_, text, message) => {
    expect(() => parseCidr(text)).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
  });
});

test.each([
  ['10.0.0.5/24', { address: parseAddress('10.0.0.5'), prefix: 24 }],
  ['10.0.0.5', { address: parseAddress('10.0.0.5'), prefix: null }],
  ['fd00::5/0', { address: parseAddress('fd00::5'), prefix: 0 }],
])('parseAddressWithPrefix keeps the host part of %s', (text, expected) => {
  expect(parseAddressWithPrefix(text)).toEqual(expected);
});

test.each([
  ['10.0.0.5', 24, '10.0.0.0/24'],
  ['10.0.0.5', 32, '10.0.0.5/32'],
  ['fd00::5', 0, '::/0'],
])('the network around %s of size %i is %s', (address, prefix, expected) => {
  expect(formatCidr(enclosingCidr(parseAddress(address), prefix))).toBe(expected);
});

test('formatCidr prints the canonical form', () => {
  expect(formatCidr(parseCidr('FD00:0:0:0::/64'))).toBe('fd00::/64');
});

test.each([
  ['10.0.0.0/24', '10.0.0.0', true],
  ['10.0.0.0/24', '10.0.0.255', true],
  ['10.0.0.0/24', '10.0.1.0', false],
  ['10.0.0.0/24', '9.255.255.255', false],
  ['::/0', '10.0.0.1', false],
])('%s contains %s: %s', (cidr, address, expected) => {
  expect(cidrContains(parseCidr(cidr), parseAddress(address))).toBe(expected);
});

test.each([
  ['10.0.0.0/24', '10.0.0.0/24', true],
  ['10.0.0.0/24', '10.0.0.128/25', true],
  ['10.0.0.128/25', '10.0.0.0/8', true],
  ['10.0.0.0/25', '10.0.0.128/25', false],
  ['0.0.0.0/0', '::/0', false],
])('%s overlaps %s: %s', (a, b, expected) => {
  expect(cidrsOverlap(parseCidr(a), parseCidr(b))).toBe(expected);
  expect(cidrsOverlap(parseCidr(b), parseCidr(a))).toBe(expected);
});
