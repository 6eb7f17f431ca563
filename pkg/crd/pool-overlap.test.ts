import { expect, test } from 'vitest';
import { decodePool } from './decode-pool.ts';
import { findOverlap } from './pool-overlap.ts';

const pool = (name: string, subnet: string, ips: string[], domain = 'default', excludeIPs: string[] = []) =>
  decodePool({
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderIPPool',
    metadata: { name, annotations: { 'ipledger.io/domain': domain } },
    spec: { subnet, ips, excludeIPs },
  });

const a = pool('a', '10.0.0.0/24', ['10.0.0.10-10.0.0.20']);

test.each([
  ['no other', [], null],
  ['itself', [a], null],
  ['another subnet', [pool('b', '10.0.1.0/24', ['10.0.1.10'])], null],
  ['the same subnet, other addresses', [pool('b', '10.0.0.0/24', ['10.0.0.21-10.0.0.30'])], null],
  ['a shared address that is excluded', [pool('b', '10.0.0.0/24', ['10.0.0.20'], 'default', ['10.0.0.20'])], null],
  ['another domain', [pool('b', '10.0.0.0/24', ['10.0.0.10'], 'blue')], null],
  ['another family', [pool('b', '::a00:0/120', ['::a00:a'])], null],
  [
    'shared addresses',
    [pool('b', '10.0.0.0/24', ['10.0.0.18-10.0.0.30'])],
    'pool a and pool b both hold 10.0.0.18-10.0.0.20',
  ],
  ['one shared address', [pool('b', '10.0.0.0/24', ['10.0.0.10'])], 'pool a and pool b both hold 10.0.0.10'],
  [
    'a wider subnet, even without addresses',
    [pool('b', '10.0.0.0/16', [])],
    'the subnets of pool a (10.0.0.0/24) and pool b (10.0.0.0/16) differ and overlap in 10.0.0.0-10.0.0.255',
  ],
  [
    'a narrower subnet',
    [pool('b', '10.0.0.128/25', [])],
    'the subnets of pool a (10.0.0.0/24) and pool b (10.0.0.128/25) differ and overlap in 10.0.0.128-10.0.0.255',
  ],
  [
    'the second of two',
    [pool('b', '10.0.1.0/24', []), pool('c', '10.0.0.0/24', ['10.0.0.15'])],
    'pool a and pool c both hold 10.0.0.15',
  ],
])('beside %s', (_, others, expected) => {
  expect(findOverlap(a, others)).toBe(expected);
});
