import { expect, test } from 'vitest';
import { decodePrevResult } from './prev-result.ts';
import { JsonFields } from './untrusted-input.ts';

const decode = (prevResult: unknown) => decodePrevResult(new JsonFields({ prevResult }, '', 'bad-config'), 'eth0');
const INTERFACES = [
  { name: 'cni0', mac: '00:11:22:33:44:55' },
  { name: 'eth0' },
  { name: 'eth0', sandbox: '/var/run/netns/x' },
  { name: 'net1', sandbox: '/var/run/netns/x' },
];

test.each<{ name: string; ips: unknown; addresses: object[] }>([
  {
    name: '0.4.0 with family',
    ips: [{ version: '4', address: '10.0.0.2/24', interface: 2 }],
    addresses: [{ address: '10.0.0.2/24' }],
  },
  {
    name: '1.0.0 with gateway',
    ips: [{ address: '10.0.0.2/24', gateway: '10.0.0.1', interface: 2 }],
    addresses: [{ address: '10.0.0.2/24', gateway: '10.0.0.1' }],
  },
  { name: 'without index', ips: [{ address: 'fd00::2/64' }], addresses: [{ address: 'fd00::2/64' }] },
  { name: 'with index -1', ips: [{ address: 'fd00::2/64', interface: -1 }], addresses: [{ address: 'fd00::2/64' }] },
  { name: 'of the host', ips: [{ address: '10.0.0.1/24', interface: 0 }], addresses: [] },
  { name: 'of a host link of the same name', ips: [{ address: '10.0.0.1/24', interface: 1 }], addresses: [] },
  { name: 'of another interface', ips: [{ address: '10.0.0.9/24', interface: 3 }], addresses: [] },
  { name: 'none', ips: null, addresses: [] },
])('addresses $name', ({ ips, addresses }) => {
  expect(decode({ interfaces: INTERFACES, ips })).toEqual(addresses);
});

test.each([
  { prevResult: undefined, message: 'prevResult is missing in the network configuration' },
  { prevResult: 'x', message: 'prevResult must be an object' },
  { prevResult: { ips: [{}] }, message: 'prevResult.ips[0].address is missing' },
  {
    prevResult: { ips: [{ address: 'a', interface: 0 }] },
    message: 'prevResult.ips[0].interface points at no item of prevResult.interfaces',
  },
  {
    prevResult: { ips: [{ address: 'a', interface: '0' }] },
    message: 'prevResult.ips[0].interface must be a whole number from -1 to 1000',
  },
  { prevResult: { ips: new Array(257).fill({}) }, message: 'prevResult.ips has more than 256 items' },
])('$message', ({ prevResult, message }) => {
  expect(() => decode(prevResult)).toThrow(expect.objectContaining({ reason: 'bad-config', message }));
});
