import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Address, highestAddress, parseAddress } from '#pkg/ip/address.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { holderKey } from './ip-record.ts';
import { holderLabel, parseRecordName, recordLabels, recordName, toLabelValue } from './record-metadata.ts';

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

test('a record is labelled with its pool, node, state and holder', () => {
  const { spec } = buildRecord({ state: 'Retained', holder: { kind: 'Pod', namespace: 'prod', name: 'web-0' } });
  expect(recordLabels(spec)).toEqual({
    'ipledger.io/pool': 'v4',
    'ipledger.io/node': 'host-1',
    'ipledger.io/state': 'Retained',
    'ipledger.io/holder': holderLabel('Pod/prod/web-0/eth0/4'),
  });
});

test('the family is part of the key', () => {
  const { spec } = buildRecord({ address: 'fd00::5' });
  expect(recordLabels(spec)['ipledger.io/holder']).toBe(holderLabel(holderKey(spec.holder, 6)));
});

test('a record without a node has no label for one', () => {
  expect(recordLabels(buildRecord({ holder: { node: '' } }).spec)).not.toHaveProperty('ipledger.io/node');
});

const HASH = /^[0-9a-f]{32}$/;

test.each([
  { name: 'a plain name', value: 'pool-a', expected: 'pool-a' },
  { name: 'dots', value: 'worker-1.example.org', expected: 'worker-1.example.org' },
  { name: '63 characters', value: 'a'.repeat(63), expected: 'a'.repeat(63) },
  { name: '64 characters', value: 'a'.repeat(64), expected: expect.stringMatching(HASH) },
  { name: 'what no label may hold', value: 'host_', expected: expect.stringMatching(HASH) },
  { name: 'a line end', value: 'host\n', expected: expect.stringMatching(HASH) },
])('$name', ({ value, expected }) => {
  expect(toLabelValue(value)).toEqual(expected);
});

// The published vectors of FNV-1a with 128 bits: a change of the hash would lose every stored record.
test.each([
  ['', '6c62272e07bb014262b821756295c58d'],
  ['a', 'd228cb696f1a8caf78912b704e4a8964'],
  ['ab', '08809544bbab1be95aa0733055b69a62'],
  ['abc', 'a68d622cec8b5822836dbc7977af7f3b'],
])('the hash of "%s" never changes', (key, expected) => {
  expect(holderLabel(key)).toBe(expected);
});

test('keys that differ in one place differ', () => {
  const keys = Array.from({ length: 10_000 }, (_, n) => `Pod/prod/web-${n}/eth0/4`);
  expect(new Set(keys.map(holderLabel)).size).toBe(keys.length);
});
