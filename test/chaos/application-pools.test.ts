import { expect, test } from 'vitest';
import { findShared, judgeApplications } from './application-pools.ts';
import type { ApiObject } from './chaos-api.ts';

interface PoolWish {
  readonly subnet?: string;
  readonly application?: string;
  readonly kind?: string;
  readonly reclaim?: string;
}

function poolOf(name: string, ips: readonly string[], wish: PoolWish = {}): ApiObject {
  const { subnet = 'applications', application = 'd1', kind = 'Deployment', reclaim = 'true' } = wish;
  const labels = {
    'ipam.spidernet.io/owner-spider-subnet': subnet,
    'ipam.spidernet.io/owner-application-uid': application,
    'ipam.spidernet.io/owner-application-kind': kind,
    'ipam.spidernet.io/owner-application-name': 'web',
    'ipam.spidernet.io/ippool-reclaim': reclaim,
  };
  return { metadata: { name, uid: name, labels }, spec: { ips } };
}

test.each([
  { name: 'share an address', ips: '10.6.0.12-10.6.0.14', subnet: 'applications', shared: ['10.6.0.12'] },
  { name: 'are beside each other', ips: '10.6.0.13-10.6.0.14', subnet: 'applications', shared: [] },
  { name: 'are of two subnets', ips: '10.6.0.12-10.6.0.14', subnet: 'more-applications', shared: [] },
])('two pools that $name', ({ ips, subnet, shared }) => {
  const found = findShared([poolOf('a', ['10.6.0.10-10.6.0.12']), poolOf('b', [ips], { subnet })]);
  expect(found.map(({ address }) => address)).toEqual(shared);
});

const OWNER = { kind: 'any', name: 'any' };
const asking = (subnet: string) => ({ 'ipam.spidernet.io/subnet': JSON.stringify({ ipv4: [subnet] }) });
const ANNOTATIONS = asking('applications');
const template = (annotations: object) => ({ template: { metadata: { annotations } } });
const DEPLOYMENT: ApiObject = { metadata: { name: 'web', uid: 'd1' }, spec: template(ANNOTATIONS) };
const REPLICA_SET: ApiObject = { metadata: { name: 'web-1', uid: 'r1', ownerReferences: [{ ...OWNER, uid: 'd1' }] } };
const OWN = poolOf('a', ['10.6.0.10-10.6.0.12']);

interface World {
  readonly pools: readonly ApiObject[];
  readonly annotations?: Record<string, string>;
  readonly owner?: string;
  readonly statefulSets?: readonly ApiObject[];
}

function judge(address: string, { pools, annotations = ANNOTATIONS, owner = 'r1', statefulSets = [] }: World) {
  const ownerReferences = [{ ...OWNER, uid: owner }];
  const pod = { metadata: { name: 'web-1-a', uid: 'p1', annotations, ownerReferences } };
  const live = [{ id: 'c1/eth0', node: 'n', podKey: 'prod/web-1-a', uid: 'p1', address }];
  const deployments = [DEPLOYMENT];
  return judgeApplications({ deployments, statefulSets, replicaSets: [REPLICA_SET], pods: [pod], pools, live });
}

const astray = (address: string) => [expect.stringContaining(`${address} of prod/web-1-a is not of the pool`)];

test('a pod is on an address of the pool of its own application', () => {
  const pools = [OWN];
  expect(judge('10.6.0.12', { pools })).toEqual([]);
  expect(judge('10.6.0.13', { pools })).toEqual(astray('10.6.0.13'));
  expect(judge('10.6.0.13', { pools, annotations: {} })).toEqual([]);
});

test('a pod is on an address of the subnet that it names', () => {
  const annotations = asking('more-applications');
  expect(judge('10.6.0.12', { pools: [OWN], annotations })).toEqual(astray('10.6.0.12'));
});

test('a pod of a StatefulSet is on an address of the pool of its set', () => {
  const set = { metadata: { name: 'db', uid: 's1' }, spec: template(ANNOTATIONS) };
  const pools = [OWN, poolOf('b', ['10.6.0.20'], { application: 's1', kind: 'StatefulSet' })];
  const world = { pools, owner: 's1', statefulSets: [set] };
  expect(judge('10.6.0.20', world)).toEqual([]);
  expect(judge('10.6.0.12', world)).toEqual(astray('10.6.0.12'));
});

test.each<PoolWish & { name: string; ips?: string[]; says: string[] }>([
  { name: 'of an application that is gone', application: 'gone', says: ['the pool of an application that is gone: b'] },
  {
    name: 'of the application, in a subnet that it left',
    subnet: 'more-applications',
    says: ['the pool of an application that names another subnet: b'],
  },
  { name: 'beside the one that the application has', says: ['one more pool of an application: b'] },
  {
    name: 'that stays, of a subnet that the application left',
    subnet: 'more-applications',
    reclaim: 'false',
    says: [],
  },
  { name: 'that stays, of another kind', application: 'gone', kind: 'StatefulSet', reclaim: 'false', says: [] },
  {
    name: 'that stays, of an application that is there again',
    application: 'gone',
    reclaim: 'false',
    says: ['a pool that stays did not come back to its application: b'],
  },
  {
    name: 'that stays without an address',
    application: 'gone',
    kind: 'StatefulSet',
    reclaim: 'false',
    ips: [],
    says: ['a pool that stays and has no address: b'],
  },
])('a pool $name', ({ name: _, ips = ['10.6.0.20'], says, ...wish }) => {
  const found = judge('10.6.0.12', { pools: [OWN, poolOf('b', ips, wish)] });
  expect(found.map((it) => it.split(' [')[0])).toEqual(says);
});
