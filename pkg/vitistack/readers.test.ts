import { expect, test } from 'vitest';
import {
  IP_ALLOCATIONS,
  NETWORK_CONFIGURATIONS,
  NETWORK_NAMESPACES,
  OLD_NETWORK_NAMESPACES,
  SHARED_IPS,
} from '#pkg/kube/objects/vitistack-resources.ts';
import { buildNetworkNamespace } from '#test/support/build-network-namespace.ts';
import { readIpAllocation } from './read-ip-allocation.ts';
import { readNetworkNamespace } from './read-network-namespace.ts';
import {
  ALLOCATION_FINALIZER,
  allocationLabels,
  CONFIGURATION_FINALIZER,
  configurationOwner,
  LAST_ADDRESS_ANNOTATION,
  SHARED_IP_FINALIZER,
  STATIC_PROVIDER,
} from './vitistack-names.ts';

const FLOOR = { floor: 2 };
const METADATA = { namespace: 'datacenter-01', name: 'web-server-01-eth0', uid: 'u', resourceVersion: '1' };
const SPEC = { networkNamespaceName: 'prod-network', networkConfigurationName: 'web-server-01' };
const allocation = (spec: object, more: object = {}) => readIpAllocation({ metadata: METADATA, spec, ...more });

test('the kinds, the owner and the names are those of Vitistack', () => {
  const kinds = [IP_ALLOCATIONS, NETWORK_NAMESPACES, OLD_NETWORK_NAMESPACES, NETWORK_CONFIGURATIONS, SHARED_IPS];
  expect(kinds.map(({ group, version, plural }) => `${plural}.${group}/${version}`)).toEqual([
    'ipallocations.vitistack.io/v1alpha2',
    'networknamespaces.vitistack.io/v1alpha2',
    'networknamespaces.vitistack.io/v1alpha1',
    'networkconfigurations.vitistack.io/v1alpha1',
    'controlplanevirtualsharedips.vitistack.io/v1alpha1',
  ]);
  expect(configurationOwner('web-server-01', 'abc-123')).toEqual({
    apiVersion: 'vitistack.io/v1alpha1',
    kind: 'NetworkConfiguration',
    name: 'web-server-01',
    uid: 'abc-123',
  });
  expect([ALLOCATION_FINALIZER, CONFIGURATION_FINALIZER, SHARED_IP_FINALIZER, STATIC_PROVIDER]).toEqual([
    'ipledger.io/release-address',
    'vitistack.io/static-ip-finalizer',
    'vitistack.io/static-ip-cpvip-finalizer',
    'static-ip-operator',
  ]);
});

test.each([
  { name: 'a short name is itself', given: 'prod-network', expected: /^prod-network$/ },
  { name: 'a name of 63 characters is itself', given: 'a'.repeat(63), expected: /^a{63}$/ },
  { name: 'a name of 64 characters is hashed', given: 'a'.repeat(64), expected: /^[0-9a-f]{32}$/ },
  { name: 'a name of 253 characters is hashed', given: 'a'.repeat(253), expected: /^[0-9a-f]{32}$/ },
  { name: 'what is no label value is hashed', given: 'a b', expected: /^[0-9a-f]{32}$/ },
])('point 14: as a label, $name', ({ given, expected }) => {
  expect(allocationLabels(given, 'web-server-01')).toEqual({
    'vitistack.io/network-namespace': expect.stringMatching(expected) as string,
    'vitistack.io/network-configuration': 'web-server-01',
  });
});

test('an IPAllocation is read with what its status shows', () => {
  const status = { phase: 'Allocated', address: '10.0.2.50', more: 1 };
  expect(allocation({ ...SPEC, interfaceName: 'eth0', requestedAddress: '10.0.2.100' }, { status })).toMatchObject({
    networkNamespace: 'prod-network',
    networkConfiguration: 'web-server-01',
    interface: 'eth0',
    requestedAddress: '10.0.2.100',
    phase: 'Allocated',
    shownAddress: { family: 4, value: 0x0a000232n },
    lastAddress: null,
    status,
  });
  const annotations = { [LAST_ADDRESS_ANNOTATION]: '10.0.2.9' };
  const back = readIpAllocation({ metadata: { ...METADATA, annotations }, spec: SPEC });
  expect(back?.lastAddress).toEqual({ family: 4, value: 0x0a000209n });
});

test.each([
  { name: 'no spec', spec: undefined },
  { name: 'no NetworkNamespace', spec: { ...SPEC, networkNamespaceName: '' } },
  { name: 'no NetworkConfiguration', spec: { ...SPEC, networkConfigurationName: undefined } },
  { name: 'a name that is too long', spec: { ...SPEC, networkNamespaceName: 'a'.repeat(254) } },
])('an IPAllocation with $name is left alone', ({ spec }) => {
  expect(readIpAllocation({ metadata: METADATA, spec })).toBeNull();
});

test('an IPAllocation with a status and an owner that make no sense is still read', () => {
  const metadata = { ...METADATA, ownerReferences: ['x', 7, { uid: 'o' }] };
  const read = readIpAllocation({ metadata, spec: { ...SPEC, requestedAddress: 7, interfaceName: [] }, status: [] });
  expect(read).toMatchObject({
    owners: [{ uid: 'o' }],
    status: {},
    phase: null,
    shownAddress: null,
    requestedAddress: '',
  });
  expect(allocation({ ...SPEC, requestedAddress: 'x'.repeat(1_000) })?.requestedAddress).toHaveLength(64);
  expect(allocation(SPEC, { status: { phase: 'Lost', address: 'here' } })).toMatchObject({
    phase: null,
    shownAddress: null,
  });
});

test.each([
  { name: 'static', allocation: {}, type: 'static', problem: null },
  { name: 'dhcp', allocation: { type: 'dhcp' }, type: 'dhcp', problem: 'it is of type dhcp' },
  { name: 'of no type', allocation: { type: undefined }, type: 'dhcp', problem: 'it is of type dhcp' },
  {
    name: 'of a type of its own',
    allocation: { type: 'bootp' },
    type: 'dhcp',
    problem: 'its type "bootp" is not known',
  },
  {
    name: 'static without a block',
    allocation: { static: undefined },
    type: 'static',
    problem: 'spec.ipAllocation.static.ipv4CIDR: must not be empty',
  },
])('a NetworkNamespace that is $name', ({ allocation: change, type, problem }) => {
  const found = readNetworkNamespace(buildNetworkNamespace({ allocation: change }), FLOOR);
  expect(found).toMatchObject({ poolName: 'datacenter-01/prod-network', type, problem, provisioningPhase: 'Ready' });
  expect(found?.network === null).toBe(problem !== null);
});

test('a NetworkNamespace of v1alpha1 has no provisioning phase, and is not waited for', () => {
  const old = buildNetworkNamespace({ status: { provisioningPhase: undefined, phase: 'Ready' } });
  expect(readNetworkNamespace(old, FLOOR)).toMatchObject({ provisioningPhase: null, type: 'static', problem: null });
});

test('a NetworkNamespace that is being deleted has a pool that gives out nothing new', () => {
  const metadata = { deletionTimestamp: '2026-05-19T09:00:00Z' };
  const ending = readNetworkNamespace(buildNetworkNamespace({ metadata }), FLOOR);
  expect(ending).toMatchObject({ isDeleting: true, network: { pool: { isTerminating: true } } });
});
