import { expect, test } from 'vitest';
import { formatRange } from '#pkg/ip/range.ts';
import { buildNetworkNamespace } from '#test/support/build-network-namespace.ts';
import { readNetworkNamespace } from './read-network-namespace.ts';

const FLOOR = { floor: 2 };
const read = (block: object, status: object = {}, rules = FLOOR) =>
  readNetworkNamespace(buildNetworkNamespace({ block, status }), rules);

function rangesOf(block: object, rules = FLOOR): string[] {
  const { network, problem } = read(block, {}, rules) ?? {};
  expect(problem).toBeNull();
  return (network?.pool.addresses.intervals() ?? []).map((interval) => formatRange(4, interval));
}

test.each([
  { name: 'without a range: from the second host to the last', block: {}, expected: ['10.0.2.2-10.0.2.254'] },
  {
    name: 'with a range, both ends in it',
    block: { ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '10.0.2.59' },
    expected: ['10.0.2.50-10.0.2.59'],
  },
  { name: 'with a start only', block: { ipv4RangeStart: '10.0.2.50' }, expected: ['10.0.2.50-10.0.2.254'] },
  { name: 'with an end only', block: { ipv4RangeEnd: '10.0.2.59' }, expected: ['10.0.2.2-10.0.2.59'] },
  {
    name: 'with an empty start and end',
    block: { ipv4RangeStart: '', ipv4RangeEnd: '' },
    expected: ['10.0.2.2-10.0.2.254'],
  },
  {
    name: 'never the gateway',
    block: { ipv4Gateway: '10.0.2.100' },
    expected: ['10.0.2.2-10.0.2.99', '10.0.2.101-10.0.2.254'],
  },
  { name: 'never the broadcast address', block: { ipv4RangeEnd: '10.0.2.255' }, expected: ['10.0.2.2-10.0.2.254'] },
  {
    name: 'in a network that is written with host bits',
    block: { ipv4CIDR: '10.0.2.77/24' },
    expected: ['10.0.2.2-10.0.2.254'],
  },
  { name: 'a /30 has one', block: { ipv4CIDR: '10.0.2.0/30' }, expected: ['10.0.2.2'] },
  {
    name: 'a /8 costs what a /24 costs',
    block: { ipv4CIDR: '10.0.0.0/8' },
    expected: ['10.0.0.2-10.0.2.0', '10.0.2.2-10.255.255.254'],
  },
])('point 16: addresses $name', ({ block, expected }) => {
  expect(rangesOf(block)).toEqual(expected);
});

test('point 16: the floor is a setting', () => {
  expect(rangesOf({}, { floor: 4 })).toEqual(['10.0.2.4-10.0.2.254']);
  expect(rangesOf({ ipv4Gateway: '10.0.2.254' }, { floor: 1 })).toEqual(['10.0.2.1-10.0.2.253']);
});

test.each([
  { name: 'no network', block: { ipv4CIDR: '' }, problem: /static\.ipv4CIDR: must not be empty/ },
  { name: 'a network without a length', block: { ipv4CIDR: '10.0.2.0' }, problem: /ipv4CIDR: has no prefix length/ },
  { name: 'a length that is none', block: { ipv4CIDR: '10.0.2.0/33' }, problem: /ipv4CIDR: .*bad prefix length/ },
  { name: 'a network that is no text', block: { ipv4CIDR: 7 }, problem: /ipv4CIDR: expected a string, found 7/ },
  { name: 'an IPv6 network', block: { ipv4CIDR: 'fd00::/64' }, problem: /fd00:: is IPv6; IPAllocations are IPv4 only/ },
  {
    name: 'a start that is no address',
    block: { ipv4RangeStart: '10.0.2' },
    problem: /ipv4RangeStart: "10\.0\.2" is not an IP address/,
  },
  {
    name: 'an end that is no address',
    block: { ipv4RangeEnd: 'end' },
    problem: /ipv4RangeEnd: "end" is not an IP address/,
  },
  {
    name: 'a start after the end',
    block: { ipv4RangeStart: '10.0.2.60', ipv4RangeEnd: '10.0.2.50' },
    problem: /ipv4RangeStart: 10\.0\.2\.60 is after the end of the range, 10\.0\.2\.50/,
  },
  {
    name: 'a start below the floor',
    block: { ipv4RangeStart: '10.0.2.1' },
    problem: /10\.0\.2\.1 is below 10\.0\.2\.2, the first/,
  },
  {
    name: 'a start outside of the network',
    block: { ipv4RangeStart: '10.0.3.5' },
    problem: /10\.0\.3\.5 is not in 10\.0\.2\.0\/24/,
  },
  {
    name: 'an end outside of the network',
    block: { ipv4RangeEnd: '10.0.3.5' },
    problem: /10\.0\.3\.5 is not in 10\.0\.2\.0\/24/,
  },
  { name: 'an IPv6 start', block: { ipv4RangeStart: 'fd00::5' }, problem: /fd00::5 is IPv6/ },
  {
    name: 'nothing but the broadcast address',
    block: { ipv4RangeStart: '10.0.2.255', ipv4RangeEnd: '10.0.2.255' },
    problem: /is the broadcast/,
  },
  {
    name: 'nothing but the gateway',
    block: { ipv4Gateway: '10.0.2.9', ipv4RangeStart: '10.0.2.9', ipv4RangeEnd: '10.0.2.9' },
    problem: /holds nothing but the gateway/,
  },
  {
    name: 'a gateway outside of the network',
    block: { ipv4Gateway: '10.0.3.1' },
    problem: /ipv4Gateway: 10\.0\.3\.1 is not in/,
  },
  { name: 'an IPv6 gateway', block: { ipv4Gateway: 'fd00::1' }, problem: /ipv4Gateway: fd00::1 is IPv6/ },
  { name: 'a /31', block: { ipv4CIDR: '10.0.2.0/31' }, problem: /10\.0\.2\.0\/31 has no room/ },
  { name: 'a /32', block: { ipv4CIDR: '10.0.2.1/32' }, problem: /10\.0\.2\.1\/32 has no room/ },
  {
    name: 'a /32 without a gateway',
    block: { ipv4CIDR: '10.0.2.1/32', ipv4Gateway: '' },
    problem: /has no first host/,
  },
  { name: 'a VLAN out of range', block: { vlanId: 4_095 }, problem: /vlanId: expected a whole number from 0 to 4094/ },
  { name: 'a time that is no number', block: { ttlSeconds: '1h' }, problem: /ttlSeconds: expected a whole number/ },
  { name: 'a time below zero', block: { ttlSeconds: -1 }, problem: /ttlSeconds: expected a whole number/ },
  { name: 'DNS servers that are no list', block: { dns: '8.8.8.8' }, problem: /dns: expected a list/ },
  { name: 'too many DNS servers', block: { dns: Array(1_001).fill('8.8.8.8') }, problem: /dns: has 1001 items/ },
])('a static block with $name is refused in words', ({ block, problem }) => {
  expect(read(block)).toMatchObject({
    type: 'static',
    network: null,
    problem: expect.stringMatching(problem) as string,
  });
});

test('point 16: without a gateway it is the first host, and without DNS servers they are the gateway', () => {
  const { network } = read({ ipv4Gateway: '', dns: [] }) ?? {};
  expect(network).toMatchObject({ gateway: { family: 4, value: 0x0a000201n }, dns: ['10.0.2.1'] });
  expect(read({})?.network?.dns).toEqual(['8.8.8.8', '8.8.4.4']);
});

test('point 16: VLAN and network are those that the status shows where the block has none', () => {
  const bare = { ipv4CIDR: '', vlanId: undefined };
  const { network } = read(bare, { vlanId: 207, ipv4Prefix: '10.0.2.0/25' }) ?? {};
  expect(network).toMatchObject({ vlanId: 207, pool: { subnet: { prefix: 25 } } });
  expect(read({}, { vlanId: 207, ipv4Prefix: '10.9.0.0/25' })?.network).toMatchObject({
    vlanId: 100,
    pool: { subnet: { prefix: 24 } },
  });
  expect(read({ vlanId: undefined })?.network?.vlanId).toBeNull();
});

test.each([
  { given: undefined, expected: 0 },
  { given: 0, expected: 0 },
  { given: 5, expected: 60 },
  { given: 3_600, expected: 3_600 },
])('a time to live of $given counts as $expected s', ({ given, expected }) => {
  expect(read({ ttlSeconds: given })?.network?.ttlSeconds).toBe(expected);
});

test('point 13: a pool is in the domain that the annotation names, so that equal numbers can be told apart', () => {
  const domainOf = (annotations: object) =>
    readNetworkNamespace(buildNetworkNamespace({ metadata: { annotations } }), FLOOR);
  expect(domainOf({})?.network?.pool.domain).toBe('default');
  expect(domainOf({ 'ipledger.io/domain': 'vlan-100' })?.network?.pool.domain).toBe('vlan-100');
  expect(domainOf({ 'ipledger.io/domain': 'No Label' })?.problem).toMatch(/is not a DNS label/);
});
