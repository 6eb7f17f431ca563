import { expect, test } from 'vitest';
import { delegateCalls, multusArgs } from './delegate-calls.ts';

const CONFIG = {
  delegates: [
    { type: 'macvlan', name: 'a' },
    { type: 'macvlan', name: 'b' },
  ],
};
const ENV = { CNI_PATH: '/opt/cni/bin', CNI_ARGS: 'A=1;B=2' };

test('every key appears twice, in an order that depends on the NIC', () => {
  expect(multusArgs('IgnoreUnknown=1;A=1;B=2', 1)).toBe('IgnoreUnknown=true;B=2;A=1;IgnoreUnknown=1;A=1;B=2');
});

test('an ADD calls each plugin for an interface of its own', () => {
  const calls = delegateCalls('ADD', CONFIG, ENV);
  expect(calls.map(({ env }) => env['CNI_IFNAME'])).toEqual(['eth0', 'net1']);
  expect(calls[0]).toMatchObject({ program: '/opt/cni/bin/macvlan', input: { name: 'a' } });
});

test('a DEL goes backwards', () => {
  expect(delegateCalls('DEL', CONFIG, ENV).map(({ input }) => input)).toEqual(CONFIG.delegates.toReversed());
});

test('other verbs concern the first network', () => {
  expect(delegateCalls('STATUS', CONFIG, ENV)).toHaveLength(1);
});
