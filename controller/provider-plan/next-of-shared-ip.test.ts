import { expect, test } from 'vitest';
import { readNetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import { readSharedIp } from '#pkg/vitistack/read-shared-ip.ts';
import { SHARED_IP_FINALIZER } from '#pkg/vitistack/vitistack-names.ts';
import { network, storedObject } from '#test/support/build-configuration.ts';
import { nextOfSharedIp, type SharedIpFacts, type SharedIpStep } from './next-of-shared-ip.ts';

const NOW = new Date('2026-11-18T20:00:00Z');
const SPEC = { clusterIdentifier: 'blue', networkNamespaceIdentifier: 'prod-network', provider: 'static-ip-operator' };
const OWNER = { kind: 'ControlPlaneVirtualSharedIP', name: 'blue-vip', uid: 'uid-of-blue-vip', controller: true };

function factsOf(wish: {
  spec?: object;
  metadata?: object;
  status?: object;
  nn?: SharedIpFacts['network'];
  nc?: object | null;
}) {
  const { spec = {}, metadata = {}, status = {}, nn, nc = null } = wish;
  const signed = { finalizers: [SHARED_IP_FINALIZER], ...metadata };
  const sharedIp = readSharedIp(storedObject('blue-vip', { spec: { ...SPEC, ...spec }, status }, signed));
  if (sharedIp === null) throw new Error('the virtual IP of the test cannot be read');
  const object = nc === null ? null : vipConfiguration(nc as VipWish);
  const is = object === null ? null : readNetworkConfiguration(object);
  const configuration = object === null || is === null ? null : { is, object };
  return { sharedIp, network: nn === undefined ? { is: network(), provider: '' } : nn, configuration };
}

interface VipWish {
  readonly owner?: object;
  readonly status?: object;
  readonly spec?: object;
  readonly gone?: boolean;
}

function vipConfiguration({ owner = OWNER, status = {}, spec = {}, gone = false }: VipWish) {
  const own = { networkNamespaceName: 'prod-network', networkInterfaces: [{ name: 'vip' }], ...spec };
  const metadata = { ownerReferences: [owner], ...(gone ? { deletionTimestamp: 'x' } : {}) };
  return storedObject('blue-cpvip', { spec: own, status }, metadata);
}

const GIVEN = { phase: 'Ready', networkInterfaces: [{ name: 'vip', ipv4Addresses: ['10.0.2.9'], ipAllocated: true }] };

const brief = (step: SharedIpStep) =>
  step.do === 'write-status' ? `${step.status['phase']}: ${step.status['message']}` : step.do;

test.each<{ name: string; facts: SharedIpFacts; step: string }>([
  { name: 'is signed first', facts: factsOf({ metadata: { finalizers: [] } }), step: 'set-finalizers' },
  { name: 'then gets a NetworkConfiguration', facts: factsOf({}), step: 'create' },
  {
    name: 'waits for its address',
    facts: factsOf({ nc: {} }),
    step: 'Pending: waiting for the address of NetworkConfiguration blue-cpvip',
  },
  {
    name: 'has its address',
    facts: factsOf({ nc: { status: GIVEN } }),
    step: 'Ready: 10.0.2.9 of NetworkConfiguration blue-cpvip',
  },
  {
    name: 'says why there is none',
    facts: factsOf({ nc: { status: { phase: 'Error', message: 'the pool is exhausted' } } }),
    step: 'Error: NetworkConfiguration blue-cpvip: the pool is exhausted',
  },
  {
    name: 'leaves the NetworkConfiguration of another one alone',
    facts: factsOf({ nc: { owner: { ...OWNER, name: 'other-vip', uid: 'u2' } } }),
    step: 'Error: NetworkConfiguration blue-cpvip exists and belongs to ControlPlaneVirtualSharedIP other-vip',
  },
  {
    name: 'uses one that nobody owns',
    facts: factsOf({ nc: { owner: { uid: 'x' } } }),
    step: 'Pending: waiting for the address of NetworkConfiguration blue-cpvip',
  },
  { name: 'follows its network', facts: factsOf({ nc: { spec: { networkNamespaceName: 'old' } } }), step: 'move' },
  { name: 'of another provider is not touched', facts: factsOf({ spec: { provider: 'kea' } }), step: 'rest' },
  { name: 'of no provider is that of its network', facts: factsOf({ spec: { provider: '' } }), step: 'rest' },
  {
    name: 'of no provider is ours if its network names us',
    facts: factsOf({ spec: { provider: '' }, nn: { is: network(), provider: 'static-ip-operator' } }),
    step: 'create',
  },
  {
    name: 'in a network of DHCP is not touched',
    facts: factsOf({ nn: { is: network(null), provider: '' } }),
    step: 'rest',
  },
  { name: 'says what is refused', facts: { ...factsOf({}), refusal: 'a policy' }, step: 'Error: a policy' },
  { name: 'without its network waits', facts: factsOf({ nn: null }), step: 'rest' },
  {
    name: 'that is deleted ends its NetworkConfiguration',
    facts: factsOf({ metadata: { deletionTimestamp: 'x' }, nc: {} }),
    step: 'delete',
  },
  {
    name: 'that is deleted leaves that of another one alone',
    facts: factsOf({ metadata: { deletionTimestamp: 'x' }, nc: { owner: { ...OWNER, uid: 'u2' } } }),
    step: 'set-finalizers',
  },
  {
    name: 'that is deleted, with its NetworkConfiguration on the way out, may go',
    facts: factsOf({ metadata: { deletionTimestamp: 'x' }, nc: { gone: true } }),
    step: 'set-finalizers',
  },
])('a virtual IP $name', ({ facts, step }) => {
  expect(brief(nextOfSharedIp(facts, NOW))).toBe(step);
});

test('its NetworkConfiguration is as static-ip-operator makes it', () => {
  const step = nextOfSharedIp(factsOf({}), NOW);
  expect(step).toMatchObject({
    object: {
      metadata: {
        namespace: 'datacenter-01',
        name: 'blue-cpvip',
        labels: { 'vitistack.io/clusterid': 'blue', 'vitistack.io/purpose': 'control-plane-vip' },
        ownerReferences: [{ apiVersion: 'vitistack.io/v1alpha1', ...OWNER }],
      },
      spec: {
        name: 'blue-cpvip',
        networkNamespaceName: 'prod-network',
        provider: 'static-ip-operator',
        networkInterfaces: [{ name: 'vip' }],
      },
    },
  });
});

test('the address stays in its status until there is another one, and nothing is written twice', () => {
  const first = nextOfSharedIp(factsOf({ nc: { status: GIVEN } }), NOW);
  const status = first.do === 'write-status' ? first.status : {};
  expect(status).toMatchObject({ status: 'Synced', loadBalancerIps: ['10.0.2.9'], clusterIdentifier: 'blue' });
  expect(nextOfSharedIp(factsOf({ nc: { status: GIVEN }, status }), NOW)).toEqual({ do: 'rest' });
  const later = nextOfSharedIp(factsOf({ nc: {}, status }), NOW);
  expect(later).toMatchObject({ do: 'write-status', status: { phase: 'Pending' } });
  expect(later.do === 'write-status' && 'loadBalancerIps' in later.status).toBe(false);
});
