import { expect, test } from 'vitest';
import { formatAddress } from '#pkg/ip/address.ts';
import { allocated, allocation, configuration, network } from '#test/support/build-configuration.ts';
import { readVitistackClaims, type VitistackObjects } from './vitistack-claims.ts';

const shown = (entry: object, spec: object = {}) =>
  configuration({ isSigned: false, spec, status: { networkInterfaces: [{ name: 'eth0', ...entry }] } });
const STATIC = { ipv4Addresses: ['10.0.2.50'], allocationMethod: 'static' };

const named = (name: string, nic: string, address: string, createdAt: string) => ({
  ...configuration({
    spec: { networkInterfaces: [{ name: nic }] },
    status: { networkInterfaces: [{ name: nic, ipv4Addresses: [address], allocationMethod: 'static' }] },
  }),
  name,
  createdAt,
});

test.each<{ name: string; objects: Partial<VitistackObjects>; claims: string[]; unreadable?: string[] }>([
  {
    name: 'the oldest version: the status of a NetworkConfiguration',
    objects: { configurations: [shown(STATIC)] },
    claims: ['10.0.2.50 web-eth0 null prod-network'],
  },
  {
    name: 'the newer ones: an IPAllocation, and the same in the status',
    objects: { configurations: [shown(STATIC)], allocations: [allocation('eth0', allocated('10.0.2.50'))] },
    claims: ['10.0.2.50 web-eth0 uid-of-web-eth0 prod-network'],
  },
  {
    name: 'an IPAllocation in Error still has its address, one that is Released does not',
    objects: {
      allocations: [
        allocation('eth0', { ...allocated('10.0.2.50'), phase: 'Error' }),
        allocation('eth1', { ...allocated('10.0.2.51'), phase: 'Released' }),
        allocation('eth2'),
      ],
    },
    claims: ['10.0.2.50 web-eth0 uid-of-web-eth0 prod-network'],
  },
  {
    name: 'an IPAllocation and a status that say different addresses are two',
    objects: { configurations: [shown(STATIC)], allocations: [allocation('eth0', allocated('10.0.2.60'))] },
    claims: ['10.0.2.60 web-eth0 uid-of-web-eth0 prod-network', '10.0.2.50 web-eth0-HASH null prod-network'],
  },
  {
    name: 'more than one address of an interface: the IPAllocation that will be made asks for the first',
    objects: { configurations: [shown({ ...STATIC, ipv4Addresses: ['10.0.2.50', '10.0.2.10'] })] },
    claims: ['10.0.2.50 web-eth0 null prod-network', '10.0.2.10 web-eth0-HASH null prod-network'],
  },
  {
    name: 'an entry with the hardware address alone: the interface of that address',
    objects: { configurations: [shown({ ...STATIC, name: '', macAddress: '02:00:00:00:00:01' })] },
    claims: ['10.0.2.50 web-eth0 null prod-network'],
  },
  {
    name: 'an entry of no interface that is asked for',
    objects: { configurations: [shown({ ...STATIC, name: 'old0' })] },
    claims: ['10.0.2.50 web-old0-HASH null prod-network'],
  },
  {
    name: 'two NetworkConfigurations whose IPAllocations have one name: the older one gets it',
    objects: {
      configurations: [named('a-b', 'c', '10.0.2.51', '2026-11-02'), named('a', 'b-c', '10.0.2.50', '2026-11-01')],
    },
    claims: ['10.0.2.50 a-b-c null prod-network', '10.0.2.51 a-b-c-HASH null prod-network'],
  },
  {
    name: 'an interface with an IPAllocation that has no address yet',
    objects: { configurations: [shown(STATIC)], allocations: [allocation('eth0', {}, { name: 'by-hand' })] },
    claims: ['10.0.2.50 by-hand uid-of-by-hand prod-network'],
  },
  { name: 'what DHCP gave', objects: { configurations: [shown({ ...STATIC, allocationMethod: 'dhcp' })] }, claims: [] },
  { name: 'another provider', objects: { configurations: [shown(STATIC, { provider: 'kea' })] }, claims: [] },
  {
    name: 'no provider and a network of DHCP',
    objects: { configurations: [shown(STATIC)], networks: [network(null)] },
    claims: [],
  },
  {
    name: 'no network named: the first of the namespace',
    objects: {
      configurations: [shown(STATIC, { networkNamespaceName: undefined })],
      networks: [network({}, { name: 'z' }), network({}, { name: 'a' })],
    },
    claims: ['10.0.2.50 web-eth0 null a'],
  },
  {
    name: 'its network is gone',
    objects: { configurations: [shown(STATIC, { provider: 'static-ip-operator' })], networks: [] },
    claims: ['10.0.2.50 web-eth0 null prod-network'],
  },
  {
    name: 'garbage',
    objects: {
      configurations: [shown({ ipv4Addresses: ['soon', '10.0.2.9/24'] })],
      allocations: [allocation('eth1', { phase: 'Allocated', address: 'later' })],
    },
    claims: ['10.0.2.9 web-eth0 null prod-network'],
    unreadable: [
      'IPAllocation datacenter-01/web-eth1: status.address is no address',
      'NetworkConfiguration datacenter-01/web: "soon" of eth0 is no address',
    ],
  },
])('$name', ({ objects, claims, unreadable = [] }) => {
  const read = readVitistackClaims({ networks: [network()], configurations: [], allocations: [], ...objects });
  const brief = read.claims.map((it) =>
    [
      formatAddress(it.address),
      it.allocation.name.replace(/-[0-9a-f]{32}$/, '-HASH'),
      it.allocation.uid,
      it.networkNamespace,
    ].join(' '),
  );
  expect(brief).toEqual(claims.map((it) => it.replace(' null ', '  ')));
  expect(read.unreadable).toEqual(unreadable);
});
