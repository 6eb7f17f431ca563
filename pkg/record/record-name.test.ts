import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Address, highestAddress, parseAddress } from '#pkg/ip/address.ts';
import { parseRecordName, recordName } from './record-name.ts';

test.each([
  ['10.0.2.50', 'default', '10.0.2.50'],
  ['10.0.2.50', 'blue', '10.0.2.50.blue'],
  ['0.0.0.0', '5', '0.0.0.0.5'],
  ['fd00::a', 'default', 'fd00-0000-0000-0000-0000-0000-0000-000a'],
  ['fd00::a', 'blue', 'fd00-0000-0000-0000-0000-0000-0000-000a.blue'],
  ['::', 'default', '0000-0000-0000-0000-0000-0000-0000-0000'],
])('%s in domain %s is named %s, and back', (text, domain, name) => {
  const address = parseAddress(text);
  expect(recordName(address, domain)).toBe(name);
  expect(parseRecordName(name)).toEqual({ address, domain });
});

test.each([
  ['nothing', ''],
  ['a name', 'pool-a'],
  ['a short IPv6 form', 'fd00--a'],
  ['upper case', 'FD00-0000-0000-0000-0000-0000-0000-000A'],
  ['colons', 'fd00:0000:0000:0000:0000:0000:0000:000a'],
  ['an IPv4-mapped address', '0000-0000-0000-0000-0000-ffff-0a00-0232'],
  ['a leading zero', '10.0.2.050'],
  ['an octet too large', '10.0.2.256'],
  ['the default domain spelled out', '10.0.2.50.default'],
  ['a domain of two labels', '10.0.2.50.blue.green'],
  ['a domain that is no label', '10.0.2.50.-blue'],
  ['an empty domain', '10.0.2.50.'],
  ['an upper case domain', '10.0.2.50.Blue'],
  ['a domain too long', `10.0.2.50.${'a'.repeat(64)}`],
  ['a line end', '10.0.2.50\n'],
])('%s is not the name of a record', (_, name) => {
  expect(parseRecordName(name)).toBeNull();
});

test('a name says its address and domain, and only one name does', () => {
  const value = fc.oneof(
    fc.bigInt(0n, highestAddress(4)).map((value): Address => ({ family: 4, value })),
    fc.bigInt(1n << 48n, highestAddress(6)).map((value): Address => ({ family: 6, value })),
  );
  const domain = fc.oneof(fc.constant('default'), fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,9}[a-z0-9])?$/));
  fc.assert(
    fc.property(value, domain, (address, domain) => {
      expect(parseRecordName(recordName(address, domain))).toEqual({ address, domain });
    }),
  );
});

test('whatever is read as a name is written the same', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9a-f]{1,4}([-.][0-9a-f]{1,4}){3,8}$/), (name) => {
      const parsed = parseRecordName(name);
      return parsed === null || recordName(parsed.address, parsed.domain) === name;
    }),
  );
});
