import { expect, test } from 'vitest';
import { findShared, judgeApplications, SUBNET_ANNOTATION } from './application-pools.ts';
import type { ApiObject } from './chaos-api.ts';

function poolOf(name: string, ips: string, { subnet = 'office', application = 'd1' } = {}): ApiObject {
  const labels = {
    'ipam.spidernet.io/owner-spider-subnet': subnet,
    'ipam.spidernet.io/owner-application-uid': application,
  };
  return { metadata: { name, uid: name, labels }, spec: { ips: [ips] } };
}

test.each([
  { name: 'share an address', ips: '10.6.0.12-10.6.0.14', subnet: 'office', shared: ['10.6.0.12'] },
  { name: 'are beside each other', ips: '10.6.0.13-10.6.0.14', subnet: 'office', shared: [] },
  { name: 'are of two subnets', ips: '10.6.0.12-10.6.0.14', subnet: 'lab', shared: [] },
])('two pools that $name', ({ ips, subnet, shared }) => {
  const found = findShared([poolOf('a', '10.6.0.10-10.6.0.12'), poolOf('b', ips, { subnet })]);
  expect(found.map(({ address }) => address)).toEqual(shared);
});

const OWNER = { kind: 'any', name: 'any' };
const DEPLOYMENT: ApiObject = { metadata: { name: 'web', uid: 'd1' } };
const REPLICA_SET: ApiObject = { metadata: { name: 'web-1', uid: 'r1', ownerReferences: [{ ...OWNER, uid: 'd1' }] } };
const ANNOTATIONS = { [SUBNET_ANNOTATION]: '{"ipv4":["office"]}' };

function judge(address: string, pools: readonly ApiObject[], annotations: Record<string, string> = ANNOTATIONS) {
  const ownerReferences = [{ ...OWNER, uid: 'r1' }];
  const pod = { metadata: { name: 'web-1-a', uid: 'p1', annotations, ownerReferences } };
  const live = [{ id: 'c1/eth0', node: 'n', podKey: 'prod/web-1-a', uid: 'p1', address }];
  return judgeApplications({ deployments: [DEPLOYMENT], replicaSets: [REPLICA_SET], pods: [pod], pools, live });
}

test('a pod is on an address of the pool of its own application', () => {
  const pools = [poolOf('a', '10.6.0.10-10.6.0.12')];
  expect(judge('10.6.0.12', pools)).toEqual([]);
  expect(judge('10.6.0.13', pools)).toEqual([expect.stringContaining('10.6.0.13 of prod/web-1-a is not of the pool')]);
  expect(judge('10.6.0.13', pools, {})).toEqual([]);
});

test('no pool is left of an application that is gone', () => {
  const pools = [poolOf('a', '10.6.0.10-10.6.0.12'), poolOf('b', '10.6.0.20', { application: 'gone' })];
  expect(judge('10.6.0.12', pools)).toEqual(['the pool of an application that is gone: b [10.6.0.20]']);
});
