import { expect, test } from 'vitest';
import { buildPool } from '#test/support/build-pool.ts';
import { decodeSpiderSubnet } from './decode-spider-subnet.ts';
import { findSubnetOverlaps } from './subnet-overlaps.ts';

const at = (second: number) => `2026-11-16T10:00:0${second}Z`;
const subnet = (name: string, cidr: string, second: number, { ips = [] as string[], metadata = {} } = {}) => ({
  createdAt: at(second),
  subnet: decodeSpiderSubnet({
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderSubnet',
    metadata: { name, ...metadata },
    spec: { subnet: cidr, ips },
  }),
});
const pool = (name: string, cidr: string, second: number, ...ips: string[]) => ({
  createdAt: at(second),
  pool: buildPool({ name, subnet: cidr, ips }),
});
const BLUE = { metadata: { annotations: { 'ipledger.io/domain': 'blue' } } };

test.each([
  {
    name: 'equal subnets: all but the earliest',
    subnets: [subnet('c', '10.0.0.0/16', 1), subnet('a', '10.0.0.0/16', 2), subnet('b', '10.0.0.0/16', 1)],
    pools: [],
    expected: { subnets: ['a', 'c'], pools: [] },
  },
  {
    name: 'a wide subnet around two earlier ones',
    subnets: [subnet('x', '10.0.0.0/24', 1), subnet('y', '10.0.9.0/24', 1), subnet('wide', '10.0.0.0/8', 2)],
    pools: [],
    expected: { subnets: ['wide'], pools: [] },
  },
  {
    name: 'subnets of two domains, of two families, side by side, or being deleted',
    subnets: [
      subnet('a', '10.0.0.0/16', 1),
      subnet('b', '10.0.0.0/16', 2, BLUE),
      subnet('c', '10.1.0.0/16', 2),
      subnet('d', 'fd00::/64', 2),
      subnet('e', '10.0.0.0/8', 2, { metadata: { deletionTimestamp: 'now' } }),
    ],
    pools: [],
    expected: { subnets: [], pools: [] },
  },
  {
    name: 'a later pool that crosses a subnet, and one that lies in it without its addresses',
    subnets: [subnet('s', '10.0.0.0/16', 1, { ips: ['10.0.0.1-10.0.0.9'] })],
    pools: [
      pool('crosses', '10.0.7.0/24', 2, '10.0.7.1'),
      pool('around', '10.0.0.0/8', 2, '10.3.0.1'),
      pool('inside', '10.0.0.0/16', 2, '10.0.0.1-10.0.0.4'),
      pool('outside', '10.0.0.0/16', 2, '10.0.0.8-10.0.0.12'),
    ],
    expected: { subnets: [], pools: ['around', 'crosses', 'outside'] },
  },
  {
    name: 'a subnet later than the pool, or in the same second',
    subnets: [subnet('s', '10.0.0.0/16', 2), subnet('t', '10.1.0.0/16', 1)],
    pools: [pool('a', '10.0.7.0/24', 1, '10.0.7.1'), pool('z', '10.1.7.0/24', 1, '10.1.7.1')],
    expected: { subnets: ['s', 't'], pools: [] },
  },
])('$name', ({ subnets, pools, expected }) => {
  const found = findSubnetOverlaps(subnets, pools);
  expect({ subnets: [...found.subnets.keys()].sort(), pools: [...found.pools.keys()].sort() }).toEqual(expected);
});

test('the sentence names both objects', () => {
  const s = subnet('s', '10.0.0.0/16', 1, { ips: ['10.0.0.1-10.0.0.9'] });
  const pools = [pool('a', '10.0.7.0/24', 2, '10.0.7.1'), pool('b', '10.0.0.0/16', 2, '10.0.0.8-10.0.0.12')];
  expect([...findSubnetOverlaps([s], pools).pools.values()].sort()).toEqual([
    'IPPool b has 10.0.0.10-10.0.0.12, which Subnet s of the same network does not have',
    'the networks of IPPool a (10.0.7.0/24) and Subnet s (10.0.0.0/16) overlap',
  ]);
});
