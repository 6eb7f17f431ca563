import { expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { decodeReservedIp } from './decode-reserved-ip.ts';

const reserved = (spec: object, metadata: object = {}) => ({
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderReservedIP',
  metadata: { name: 'routers', ...metadata },
  spec,
});
const setOf = (...texts: string[]) => IntervalSet.of(texts.map(parseRange));

test('the family comes from the first entry, and entries may overlap', () => {
  expect(decodeReservedIp(reserved({ ips: ['10.0.0.1-10.0.0.9', '10.0.0.5', '172.16.0.1'] }))).toEqual({
    name: 'routers',
    family: 4,
    addresses: setOf('10.0.0.1-10.0.0.9', '172.16.0.1'),
    isTerminating: false,
  });
});

test('a version alone reserves nothing', () => {
  const { family, addresses } = decodeReservedIp(reserved({ ipVersion: 6 }));
  expect([family, addresses.isEmpty]).toEqual([6, true]);
});

test('one that is being deleted says so', () => {
  const leaving = reserved({ ips: ['fd00::1'] }, { deletionTimestamp: '2026-11-16T10:00:00Z' });
  expect(decodeReservedIp(leaving).isTerminating).toBe(true);
});

test.each([
  ['neither version nor entries', {}, 'spec.ips: must not be empty while spec.ipVersion is not set'],
  ['two families', { ips: ['10.0.0.1', 'fd00::1'] }, 'spec.ips[1]: fd00::1 is not IPv4'],
  ['another version', { ipVersion: 6, ips: ['10.0.0.1'] }, 'spec.ips[0]: 10.0.0.1 is not IPv6'],
  ['a version that is none', { ipVersion: 5, ips: ['10.0.0.1'] }, 'spec.ipVersion: expected 4 or 6, found 5'],
  ['an unknown field', { ip: ['10.0.0.1'] }, 'spec.ip: unknown field; did you mean ips?'],
  [
    'a bad range',
    { ips: ['10.0.0.0/24'] },
    'spec.ips[0]: "10.0.0.0/24" is in CIDR form; write a range such as 10.0.0.10-10.0.0.20',
  ],
])('%s is refused', (_, spec, message) => {
  expect(() => decodeReservedIp(reserved(spec))).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
});
