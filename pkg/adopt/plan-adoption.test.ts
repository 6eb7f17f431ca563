import { expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import { buildPool } from '#test/support/build-pool.ts';
import type { LegacyClaim } from './legacy-claims.ts';
import { type AdoptionWorld, planAdoption } from './plan-adoption.ts';

const POOL = buildPool({ name: 'v4', subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.20'], gateway: '10.0.0.1' });
const inPool = (more: Partial<LegacyClaim> = {}): LegacyClaim => ({
  by: 'pool',
  address: parseAddress('10.0.0.10'),
  pool: 'v4',
  namespace: 'prod',
  name: 'web-0',
  uid: 'u-1',
  ...more,
});
const inEndpoint = (more: Partial<LegacyClaim> = {}): LegacyClaim => ({
  ...inPool(),
  by: 'endpoint',
  interface: 'net1',
  node: 'n-1',
  gateway: '10.0.0.9',
  ownerKind: 'StatefulSet',
  ownerName: 'web',
  ...more,
});
const plan = (claims: LegacyClaim[], more: Partial<AdoptionWorld> = {}) =>
  planAdoption({ claims, pools: new Map([['v4', POOL]]), records: new Set(), pods: new Map(), ...more });

test('an address of the pool gets the record of its pod, with what the endpoint knows', () => {
  expect(plan([inPool(), inEndpoint()])).toEqual({
    create: [
      {
        address: '10.0.0.10',
        prefix: 24,
        gateway: '10.0.0.9',
        domain: 'default',
        pool: { kind: 'SpiderIPPool', name: 'v4', uid: POOL.uid },
        state: 'Allocated',
        holder: {
          kind: 'Pod',
          namespace: 'prod',
          name: 'web-0',
          uid: 'u-1',
          interface: 'net1',
          attachGeneration: 1,
          node: 'n-1',
          owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' },
        },
      },
    ],
    collisions: [],
  });
});

test('without an endpoint the first NIC is meant, and the pool says the gateway', () => {
  const [spec] = plan([inPool()]).create;
  expect(spec).toMatchObject({ gateway: '10.0.0.1', holder: { interface: 'eth0', node: '' } });
});

const [OF_POOL, OF_POD] = [
  { dst: '10.7.0.0/16', gw: '10.0.0.2' },
  { dst: '10.8.0.0/16', gw: '10.0.0.3' },
];

test.each([
  {
    name: 'the endpoint says, also that the NIC has no default route',
    claims: [inPool(), inEndpoint({ cleanGateway: true, routes: [OF_POOL, OF_POD] })],
    wayOut: { cleanGateway: true, routes: [OF_POOL, OF_POD] },
  },
  { name: 'the endpoint says none, whatever its pool has got since', claims: [inPool(), inEndpoint()], wayOut: {} },
  {
    name: 'the endpoint of another pod is not asked',
    claims: [inPool(), inEndpoint({ name: 'db-0', cleanGateway: true, routes: [OF_POD] })],
    wayOut: { routes: [OF_POOL] },
  },
  { name: 'no endpoint is there: those of the pool', claims: [inPool()], wayOut: { routes: [OF_POOL] } },
])('which routes it has: $name', ({ claims, wayOut }) => {
  const pools = new Map([['v4', { ...POOL, routes: [OF_POOL] }]]);
  const [{ routes, cleanGateway } = {}] = plan(claims, { pools }).create;
  expect({ routes, cleanGateway }).toEqual(wayOut);
});

test('an endpoint whose pool record was lost still holds its address', () => {
  expect(plan([inEndpoint()]).create).toMatchObject([{ address: '10.0.0.10', holder: { name: 'web-0', uid: 'u-1' } }]);
});

test('a living pod says best who owns it: a third-party StatefulSet is not ours', () => {
  const owner = { apiVersion: 'apps.kruise.io/v1', kind: 'StatefulSet', name: 'web' };
  const pods = new Map([['prod/web-0', { uid: 'u-1', node: 'n-1', owner }]]);
  expect(plan([inPool(), inEndpoint()], { pods }).create).toMatchObject([{ holder: { owner } }]);
});

const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
const LIVES = { uid: 'u-9', node: 'n-9', owner: SET };

test.each([
  { name: 'its uid is known, and it lives', claims: [inPool({ uid: 'u-9' })], pod: LIVES, holder: ['u-9', 'n-9'] },
  { name: 'no uid is known: who has its name', claims: [inPool({ uid: '' })], pod: LIVES, holder: ['u-9', 'n-9'] },
  {
    name: 'no uid is known, and the pod of its name is elsewhere: it comes for what is kept for it',
    claims: [inPool({ uid: '' }), inEndpoint({ uid: '' })],
    pod: LIVES,
    holder: ['u-9', 'n-9'],
  },
  {
    name: 'no uid is known, and the pod of its name has no node yet: one before it',
    claims: [inPool({ uid: '' })],
    pod: { ...LIVES, node: '' },
    holder: ['unknown', ''],
  },
  {
    name: 'no uid is known, and no pod has its name',
    claims: [inPool({ uid: '' }), inEndpoint({ uid: '' })],
    holder: ['unknown', 'n-1'],
  },
  {
    name: 'its uid is known, and the pod of its name has another',
    claims: [inPool(), inEndpoint()],
    pod: LIVES,
    holder: ['u-1', 'n-1'],
  },
])('which pod it is: $name', ({ claims, pod, holder }) => {
  const pods = new Map(pod === undefined ? [] : [['prod/web-0', pod]]);
  const [spec] = plan(claims, { pods }).create;
  expect([spec?.state, spec?.holder.uid, spec?.holder.node]).toEqual(['Allocated', ...holder]);
});

test('no pod has the name of a virtual machine: its launcher is for the collector to find', () => {
  const [spec] = plan([inEndpoint({ name: 'vm', uid: '', ownerKind: 'VirtualMachineInstance' })]).create;
  expect(spec?.holder).not.toHaveProperty('uid');
});

test("a virtual machine's address is the machine's", () => {
  const [spec] = plan([inPool({ name: 'vm' }), inEndpoint({ name: 'vm', ownerKind: 'VirtualMachineInstance' })]).create;
  expect(spec?.holder).toMatchObject({ kind: 'VirtualMachineInstance', name: 'vm' });
});

test('what has its record is left alone, so that a second plan is empty', () => {
  expect(plan([inPool(), inEndpoint()], { records: new Set(['10.0.0.10']) })).toEqual({ create: [], collisions: [] });
});

test('two holders of one address are told, the pool decides, nobody is renumbered', () => {
  const { create, collisions } = plan([inEndpoint({ name: 'db-0' }), inPool()]);
  expect(collisions).toEqual(['10.0.0.10 is claimed by prod/db-0 and prod/web-0']);
  expect(create).toMatchObject([{ holder: { name: 'web-0', node: '' } }]);
});

test('the same number in two domains is two addresses', () => {
  const blue = buildPool({ name: 'blue', subnet: '10.0.0.0/24', ips: ['10.0.0.10'], domain: 'blue' });
  const pools = new Map([
    ['v4', POOL],
    ['blue', blue],
  ]);
  const { create, collisions } = plan([inPool(), inPool({ pool: 'blue', name: 'db-0' })], { pools });
  expect(create.map(({ domain }) => domain)).toEqual(['default', 'blue']);
  expect(collisions).toEqual([]);
});

test('a pool that is gone still gives its address a record', () => {
  expect(plan([inPool({ pool: 'gone' })]).create).toMatchObject([{ prefix: 32, pool: { name: 'gone', uid: '' } }]);
});
