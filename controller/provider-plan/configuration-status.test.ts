import { describe, expect, test } from 'vitest';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { NetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import { serveInterfaces } from '#pkg/vitistack/serving-allocations.ts';
import { allocated, allocation, configuration, network } from '#test/support/build-configuration.ts';
import { planConfigurationStatus, wishOf } from './configuration-status.ts';

const NOW = new Date('2026-11-18T20:00:05.678Z');

function statusOf(it: NetworkConfiguration, allocations: readonly IpAllocation[], why: string | null = null) {
  const served = serveInterfaces(it, allocations);
  return planConfigurationStatus({ configuration: it, served, network: why === null ? network() : null, why }, NOW);
}

const ETH0 = {
  name: 'eth0',
  macAddress: '02:00:00:00:00:01',
  ipv4Addresses: ['10.0.2.50'],
  ipv4Subnet: '10.0.2.0/24',
  ipv4Gateway: '10.0.2.1',
  dns: ['8.8.8.8'],
  ipAllocated: true,
  allocationMethod: 'static',
  allocationExpiry: '2026-11-18T21:00:00Z',
};

test('what the IPAllocations have is told, with the hardware address that consumers pair by', () => {
  expect(statusOf(configuration(), [allocation('eth0', allocated('10.0.2.50'))])).toEqual({
    phase: 'Ready',
    status: 'Success',
    message: '1 of 1 interfaces have an address',
    created: '2026-11-18T20:00:00Z',
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Configured',
        message: '1 of 1 interfaces have an address',
        observedGeneration: 1,
        lastTransitionTime: '2026-11-18T20:00:05Z',
      },
    ],
    networkInterfaces: [ETH0],
  });
});

test('told once, there is nothing left to write', () => {
  const allocations = [allocation('eth0', allocated('10.0.2.50'))];
  const status = statusOf(configuration(), allocations) ?? {};
  expect(statusOf(configuration({ status }), allocations)).toBeNull();
});

describe('the wish of a status', () => {
  const allocations = [allocation('eth0', allocated('10.0.2.50'))];
  const wishWith = (status: object, given = allocations) => {
    const planned = statusOf(configuration({ status }), given);
    return planned === null ? expect.unreachable() : wishOf(planned);
  };
  const bare = wishWith({});

  test.each([
    { name: 'a time of their own', status: { created: '2020-01-01T00:00:00Z' } },
    { name: 'a field of an interface', status: { networkInterfaces: [{ name: 'eth0', ipv6Gateway: 'fd00::1' }] } },
    { name: 'a condition', status: { conditions: [{ type: 'Synced', status: 'True' }] } },
    { name: 'another time of our condition', status: { conditions: [{ type: 'Ready', status: 'True' }] } },
  ])('is the same when others write $name besides', ({ status }) => {
    expect(wishWith(status)).toEqual(bare);
  });

  test('is the same while the lease of another interface is written again and again', () => {
    const leased = (ip: string) => ({ name: 'eth1', ipv4Addresses: [ip], allocationMethod: 'dhcp' });
    const wishes = ['10.9.0.1', '10.9.0.2'].map((ip) => wishWith({ networkInterfaces: [leased(ip)] }));
    expect(wishes[1]).toEqual(wishes[0]);
  });

  test('is another one with another address', () => {
    expect(wishWith({}, [allocation('eth0', allocated('10.0.2.51'))])).not.toEqual(bare);
  });
});

test.each<{ name: string; spec?: object; allocations: IpAllocation[]; why?: string; says: string }>([
  {
    name: 'waits',
    allocations: [allocation('eth0', { phase: 'Pending', message: 'NetworkNamespace prod-network is not Ready' })],
    says: 'Pending: 0 of 1 interfaces have an address; eth0 waits for its IPAllocation: NetworkNamespace prod-network is not Ready',
  },
  {
    name: 'failed',
    allocations: [allocation('eth0', { phase: 'Error', message: 'the pool is exhausted' })],
    says: 'Error: 0 of 1 interfaces have an address; eth0: the pool is exhausted',
  },
  {
    name: 'has a second IPAllocation that has an address',
    allocations: [
      allocation('eth0', { phase: 'Error', message: 'taken' }),
      allocation('eth0', allocated('10.0.2.9'), { name: 'by-hand' }),
    ],
    says: 'Ready: 1 of 1 interfaces have an address',
  },
  {
    name: 'has two interfaces of one name',
    spec: { networkInterfaces: [{ name: 'eth0' }, { name: 'eth0' }] },
    allocations: [allocation('eth0', allocated('10.0.2.9'))],
    says: 'Error: 1 of 1 interfaces have an address; more than one interface is named eth0: only the first gets an address',
  },
  {
    name: 'has more interfaces than any machine',
    spec: { networkInterfaces: Array.from({ length: 90 }, (_, at) => ({ name: `eth${at}` })) },
    allocations: Array.from({ length: 65 }, (_, at) => allocation(`eth${at}`, allocated(`10.0.2.${at + 10}`))),
    says: 'Error: 64 of 64 interfaces have an address; more than 64 interfaces are asked for',
  },
  {
    name: 'asks for no interface',
    spec: { networkInterfaces: undefined },
    allocations: [],
    says: 'Ready: 0 of 0 interfaces have an address',
  },
  {
    name: 'keeps what it has without a network',
    allocations: [allocation('eth0', allocated('10.0.2.9'))],
    why: 'NetworkNamespace prod-network does not exist',
    says: 'Error: 1 of 1 interfaces have an address; NetworkNamespace prod-network does not exist',
  },
])('a configuration that $name says so', ({ spec = {}, allocations, why, says }) => {
  const status = statusOf(configuration({ spec }), allocations, why ?? null);
  expect(`${status?.phase}: ${status?.message}`).toBe(says);
});

const interfacesAfter = (wish: Parameters<typeof configuration>[0], allocations: readonly IpAllocation[]) =>
  statusOf(configuration(wish), allocations)?.networkInterfaces;

test('of several addresses the oldest comes first, and whichever is shown first stays first', () => {
  const [older, younger] = [
    allocation('eth0', allocated('10.0.2.60'), { metadata: { creationTimestamp: '2026-11-01T00:00:00Z' } }),
    allocation('eth0', allocated('10.0.2.50'), { name: 'a', metadata: { creationTimestamp: '2026-11-02T00:00:00Z' } }),
  ];
  expect(interfacesAfter({}, [younger, older])).toMatchObject([{ ipv4Addresses: ['10.0.2.60', '10.0.2.50'] }]);
  const status = { networkInterfaces: [ETH0] };
  expect(interfacesAfter({ status }, [younger, older])).toMatchObject([{ ipv4Addresses: ['10.0.2.50', '10.0.2.60'] }]);
});

test('an Error does not take away the address that the IPAllocation still has', () => {
  const inError = allocation('eth0', {
    ...allocated('10.0.2.50'),
    phase: 'Error',
    message: 'outside of the range now',
  });
  expect(interfacesAfter({}, [inError])).toEqual([ETH0]);
});

test('without an IPAllocation the address stays in the status, and is not allocated', () => {
  const { ipAllocated: _, ...kept } = ETH0;
  expect(interfacesAfter({ status: { networkInterfaces: [ETH0] } }, [])).toEqual([kept]);
});

test('the address of a network that it has left is not shown any more', () => {
  const left = { ...ETH0, ipv4Addresses: ['10.9.9.9'] };
  expect(interfacesAfter({ status: { networkInterfaces: [left] } }, [])).toEqual([
    { name: 'eth0', macAddress: '02:00:00:00:00:01' },
  ]);
});

test('fields and interfaces of other writers stay, and our own of an interface that is gone do not', () => {
  const status = {
    phase: 'Ready',
    networkInterfaces: [
      { ...ETH0, ipv6Addresses: ['fd00::1'], dhcpReserved: true },
      { name: 'eth7', ipv4Addresses: ['10.0.2.77'], allocationMethod: 'static' },
      { name: 'mgmt', ipv4Addresses: ['192.0.2.1'], allocationMethod: 'dhcp' },
    ],
  };
  expect(interfacesAfter({ status }, [allocation('eth0', allocated('10.0.2.50'))])).toEqual([
    { ...ETH0, ipv6Addresses: ['fd00::1'], dhcpReserved: true },
    { name: 'mgmt', ipv4Addresses: ['192.0.2.1'], allocationMethod: 'dhcp' },
  ]);
});

test('a hardware address that only the status has is kept', () => {
  const wish = { spec: { networkInterfaces: [{ name: 'eth0' }] }, status: { networkInterfaces: [ETH0] } };
  expect(interfacesAfter(wish, [allocation('eth0', allocated('10.0.2.50'))])).toEqual([ETH0]);
});

test('an address on its way out is shown no more as allocated', () => {
  const ending = allocation('eth0', allocated('10.0.2.50'), { metadata: { deletionTimestamp: 'x' } });
  expect(interfacesAfter({}, [ending])).toEqual([{ name: 'eth0', macAddress: '02:00:00:00:00:01' }]);
});

describe('an IPAllocation that names no interface', () => {
  const TWO = [{ name: 'eth0' }, { name: 'eth1' }];
  const fixed = allocation('', allocated('10.0.2.100'), { name: 'db-server-fixed' });
  const served = (status: object, ...others: readonly IpAllocation[]) =>
    serveInterfaces(configuration({ spec: { networkInterfaces: TWO }, status }), [fixed, ...others]).map(
      ({ wanted, allocations }) => `${wanted.name}: ${allocations.map(({ name }) => name)}`,
    );
  const byUser = allocation('eth0', {}, { name: 'by-user' });

  test('serves the first interface without one of its own', () => {
    expect(served({})).toEqual(['eth0: db-server-fixed', 'eth1: ']);
    expect(served({}, byUser)).toEqual(['eth0: by-user', 'eth1: db-server-fixed']);
  });

  test('stays with the interface that shows its address, whoever makes one for that interface later', () => {
    const shown = { networkInterfaces: [{ name: 'eth0', ipv4Addresses: ['10.0.2.100'], allocationMethod: 'static' }] };
    expect(served(shown, byUser)).toEqual(['eth0: db-server-fixed,by-user', 'eth1: ']);
  });
});
