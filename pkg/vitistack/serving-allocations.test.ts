import { expect, test } from 'vitest';
import { configuration } from '#test/support/build-configuration.ts';
import { serveInterfaces } from './serving-allocations.ts';

const MAC = '02:00:00:00:00:01';
const OTHER = '02:00:00:00:00:02';
const at = (address: string, fields: object = {}) => ({ ipv4Addresses: [address], ...fields });

/** Interfaces, what the status shows, and `interface address` of each. */
test.each([
  {
    name: 'by name, whatever their order',
    wanted: [{ name: 'eth0' }, { name: 'eth1' }],
    shown: [at('10.0.2.6', { name: 'eth1' }), at('10.0.2.5', { name: 'eth0' })],
    pairs: ['eth0 10.0.2.5', 'eth1 10.0.2.6'],
  },
  {
    name: 'by hardware address where the status has no name, in any spelling',
    wanted: [
      { name: 'eth0', macAddress: MAC },
      { name: 'eth1', macAddress: OTHER },
    ],
    shown: [at('10.0.2.6', { macAddress: OTHER.toUpperCase() }), at('10.0.2.5', { macAddress: MAC })],
    pairs: ['eth0 10.0.2.5', 'eth1 10.0.2.6'],
  },
  {
    name: 'two VLANs of one card have one hardware address: each keeps an address of its own',
    wanted: [
      { name: 'eth0.100', macAddress: MAC },
      { name: 'eth0.200', macAddress: MAC },
    ],
    shown: [at('10.0.2.5', { macAddress: MAC }), at('10.0.2.6', { macAddress: MAC })],
    pairs: ['eth0.100 10.0.2.5', 'eth0.200 10.0.2.6'],
  },
  {
    name: 'a name goes before a hardware address',
    wanted: [
      { name: 'eth0', macAddress: MAC },
      { name: 'eth1', macAddress: MAC },
    ],
    shown: [at('10.0.2.6', { macAddress: MAC }), at('10.0.2.5', { name: 'eth0', macAddress: MAC })],
    pairs: ['eth0 10.0.2.5', 'eth1 10.0.2.6'],
  },
  {
    name: 'an interface without a name and without a hardware address keeps what is shown without either',
    wanted: [{}],
    shown: [at('10.0.2.5')],
    pairs: [' 10.0.2.5'],
  },
  {
    name: 'and what somebody has added a hardware address to',
    wanted: [{}],
    shown: [at('10.0.2.5', { macAddress: MAC })],
    pairs: [' 10.0.2.5'],
  },
  {
    name: 'another hardware address is another interface',
    wanted: [{ macAddress: OTHER }],
    shown: [at('10.0.2.5', { macAddress: MAC })],
    pairs: [' none'],
  },
  {
    name: 'a name of the status that the spec does not have is of nobody',
    wanted: [{ name: 'eth1', macAddress: MAC }],
    shown: [at('10.0.2.5', { name: 'eth0', macAddress: MAC })],
    pairs: ['eth1 none'],
  },
])('an interface is paired with what the status shows of it: $name', ({ wanted, shown, pairs }) => {
  const it = configuration({ spec: { networkInterfaces: wanted }, status: { networkInterfaces: shown } });
  const served = serveInterfaces(it, []).map((one) => `${one.wanted.name} ${one.shown?.addresses[0] ?? 'none'}`);
  expect(served).toEqual(pairs);
});
