import { expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { ReservedIp } from './decode-reserved-ip.ts';
import { reservedAddresses, reservedBy } from './reserved-addresses.ts';

const reserve = (name: string, range: string, isTerminating = false): ReservedIp => {
  const { family, ...interval } = parseRange(range);
  return { name, family, addresses: IntervalSet.of([interval]), isTerminating };
};
const ALL = [
  reserve('a', '10.0.0.1-10.0.0.4'),
  reserve('b', '10.0.0.3-10.0.0.6'),
  reserve('leaving', '10.0.0.1-10.0.0.9', true),
  reserve('six', 'fd00::1'),
];

test('what several reserve is united by family, and one that is being deleted reserves nothing', () => {
  const { 4: four, 6: six } = reservedAddresses(ALL);
  expect([four.size, six.size]).toEqual([6n, 1n]);
});

test.each([
  { address: '10.0.0.3', names: ['a', 'b'] },
  { address: '10.0.0.9', names: [] },
  { address: 'fd00::1', names: ['six'] },
])('$address is reserved by $names', ({ address, names }) => {
  expect(reservedBy(ALL, parseAddress(address))).toEqual(names);
  const { family, value } = parseAddress(address);
  expect(reservedAddresses(ALL)[family].contains(value)).toBe(names.length > 0);
});
