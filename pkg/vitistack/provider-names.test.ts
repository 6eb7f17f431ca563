import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  allocationName,
  otherAllocationName,
  sharedIpConfigurationName,
  shortConfigurationName,
} from './provider-names.ts';

const HASH = /-[0-9a-f]{32}$/;
const LEGAL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

test.each([
  { name: 'as the page has it', configuration: 'web-server-01', interface: 'eth0', is: 'web-server-01-eth0' },
  { name: 'without an interface', configuration: 'web-server-01', interface: '', is: 'web-server-01' },
])('the name of an IPAllocation $name', ({ configuration, interface: nic, is }) => {
  expect(allocationName(configuration, nic)).toBe(is);
});

test('a name that is too long or not legal is cut and gets a hash, and is never that of another interface', () => {
  const long = 'n'.repeat(253);
  expect(allocationName(long, 'eth0')).toMatch(HASH);
  expect(allocationName(long, 'eth0')).not.toBe(allocationName(long, 'eth1'));
  expect(allocationName('web', 'Eth0')).not.toBe(allocationName('web', 'eth0'));
  expect(allocationName('web', 'eth/0 (lan)')).toMatch(/^web-eth-0--lan-[0-9a-f]{32}$/);
  expect(allocationName('a', 'b-c')).toBe(allocationName('a-b', 'c'));
  expect(otherAllocationName('a', 'b-c')).not.toBe(otherAllocationName('a-b', 'c'));
});

test('every name is legal', () => {
  const configuration = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/).filter((it) => LEGAL.test(it));
  fc.assert(
    fc.property(configuration, fc.string(), (name, nic) => {
      for (const made of [allocationName(name, nic), otherAllocationName(name, nic), sharedIpConfigurationName(nic)]) {
        expect(made).toMatch(LEGAL);
        expect(made.length).toBeLessThanOrEqual(253);
      }
    }),
  );
});

test('the NetworkConfiguration of a virtual IP is named after its cluster, and its own name within 32 characters', () => {
  expect(sharedIpConfigurationName('blue')).toBe('blue-cpvip');
  expect(sharedIpConfigurationName('Blue_1')).toMatch(/^blue-1-cpvip-[0-9a-f]{32}$/);
  expect(shortConfigurationName('blue-cpvip')).toBe('blue-cpvip');
  expect(shortConfigurationName(`${'b'.repeat(40)}-cpvip`)).toMatch(/^b{23}-[0-9a-f]{8}$/);
});
