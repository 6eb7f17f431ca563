import { describe, expect, test } from 'vitest';
import { type Family, formatAddress, highestAddress, parseAddress } from './address.ts';

describe('parseAddress reads', () => {
  test.each<[text: string, family: Family, value: bigint]>([
    ['0.0.0.0', 4, 0n],
    ['10.0.2.50', 4, 0x0a000232n],
    ['255.255.255.255', 4, highestAddress(4)],
    ['::', 6, 0n],
    ['::1', 6, 1n],
    ['fd00::a', 6, (0xfd00n << 112n) + 10n],
    ['FD00::A', 6, (0xfd00n << 112n) + 10n],
    ['fd00:0000:0000:0000:0000:0000:0000:000a', 6, (0xfd00n << 112n) + 10n],
    ['1:2:3:4:5:6:7::', 6, 0x00010002000300040005000600070000n],
    ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 6, highestAddress(6)],
    ['64:ff9b::1.2.3.4', 6, (0x64ff9bn << 96n) + 0x01020304n],
    ['::1.2.3.4', 6, 0x01020304n],
    ['::ffff:1.2.3.4', 4, 0x01020304n],
    ['::ffff:102:304', 4, 0x01020304n],
    ['0:0:0:0:0:FFFF:1.2.3.4', 4, 0x01020304n],
  ])('%s', (text, family, value) => {
    expect(parseAddress(text)).toEqual({ family, value });
  });
});

describe('parseAddress refuses', () => {
  test.each<[name: string, text: string, message: string]>([
    ['nothing', '', '"" is not an IP address'],
    ['a name', 'gateway', '"gateway" is not an IP address'],
    ['a short IPv4 form', '10.1', '"10.1" is not an IP address'],
    ['a number', '167772160', '"167772160" is not an IP address'],
    ['a hexadecimal octet', '0x0a.0.0.1', '"0x0a.0.0.1" is not an IP address'],
    ['an octet over 255', '10.0.0.256', '"10.0.0.256" is not an IP address'],
    ['five octets', '1.2.3.4.5', '"1.2.3.4.5" is not an IP address'],
    ['a leading zero', '10.0.0.010', '"10.0.0.010" is not an IP address: a leading zero is ambiguous'],
    ['a leading zero in a tail', '::ffff:1.2.3.04', '"::ffff:1.2.3.04" is not an IP address'],
    ['a prefix length', '10.0.0.1/24', '"10.0.0.1/24" is not an IP address: a prefix length is not allowed here'],
    ['a zone', 'fe80::1%eth0', '"fe80::1%eth0" is not an IP address: a zone is not allowed'],
    ['a space', ' 10.0.0.1', '" 10.0.0.1" is not an IP address: it contains white space'],
    ['a line end', '10.0.0.1\n', '"10.0.0.1\\n" is not an IP address: it contains white space'],
    ['brackets', '[::1]', '"[::1]" is not an IP address'],
    ['two gaps', '1::2::3', '"1::2::3" is not an IP address'],
    ['a triple colon', ':::', '":::" is not an IP address'],
    ['seven groups', '1:2:3:4:5:6:7', '"1:2:3:4:5:6:7" is not an IP address'],
    ['nine groups', '1:2:3:4:5:6:7:8:9', '"1:2:3:4:5:6:7:8:9" is not an IP address'],
    ['a gap that stands for nothing', '1:2:3:4::5:6:7:8', '"1:2:3:4::5:6:7:8" is not an IP address'],
    ['a group of five digits', '::12345', '"::12345" is not an IP address'],
    ['a dotted part that is not last', '::1.2.3.4:5', '"::1.2.3.4:5" is not an IP address'],
    ['a lone colon at the end', '1:2:3:4:5:6:7:', '"1:2:3:4:5:6:7:" is not an IP address'],
    ['digits of another script', '１0.0.0.1', '"１0.0.0.1" is not an IP address'],
  ])('%s', (_, text, message) => {
    expect(() => parseAddress(text)).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
  });

  test('endless text, without repeating all of it', () => {
    const text = '1:'.repeat(1_000_000);
    expect(() => parseAddress(text)).toThrow(/^"(1:){39}1"… is not an IP address$/);
  });
});

describe('formatAddress follows RFC 5952', () => {
  test.each<[name: string, groups: string, text: string]>([
    ['all zero', '0:0:0:0:0:0:0:0', '::'],
    ['leading zeros of a group go', '2001:0db8:0:0:0:0:0:0001', '2001:db8::1'],
    ['lower case', '2001:DB8:AAAA:BBBB:CCCC:DDDD:EEEE:FFFF', '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff'],
    ['a single zero group stays', '2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['the longest run goes', '2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['of equal runs the first', '2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['of equal runs the first, at the start', '0:0:1:2:3:0:0:4', '::1:2:3:0:0:4'],
    ['of equal runs the first, against the end', '1:0:0:2:3:4:0:0', '1::2:3:4:0:0'],
    ['a run at the end', '1:2:3:4:5:6:0:0', '1:2:3:4:5:6::'],
  ])('%s', (_, groups, text) => {
    expect(formatAddress(parseAddress(groups))).toBe(text);
  });
});
