import { expect, test } from 'vitest';
import { formatAddress } from '#pkg/ip/address.ts';
import { allocated, allocation, configuration, network } from '#test/support/build-configuration.ts';
import { readVitistackClaims, type VitistackObjects } from './vitistack-claims.ts';

const shown = (entry: object, spec: object = {}) =>
  configuration({ isSigned: false, spec, status: { networkInterfaces: [{ name: 'eth0', ...entry }] } });
const STATIC = { ipv4Addresses: ['10.0.2.50'], allocationMethod: 'static' };

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
    claims: ['10.0.2.60 web-eth0 uid-of-web-eth0 prod-network', '10.0.2.50 web-eth0 null prod-network'],
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
    [formatAddress(it.address), it.allocation.name, it.allocation.uid, it.networkNamespace].join(' '),
  );
  expect(brief).toEqual(claims.map((it) => it.replace(' null ', '  ')));
  expect(read.unreadable).toEqual(unreadable);
});
