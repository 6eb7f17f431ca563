import { expect, test } from 'vitest';
import { buildPool, type PoolOverrides } from '#test/support/build-pool.ts';
import type { Candidate } from './candidates.ts';
import { comparePools } from './order.ts';

const selector = { matchLabels: {}, matchExpressions: [] };
const podAffinity = { podAffinity: selector };
const nodeName = { nodeNames: ['n'] };
const nodeAffinity = { nodeAffinity: selector };
const namespaceName = { namespaceNames: ['n'] };
const namespaceAffinity = { namespaceAffinity: selector };
const multusName = { multusNames: ['m'] };

test.each([
  {
    name: 'example 1: podAffinity + nodeName before podAffinity',
    first: { ...podAffinity, ...nodeName },
    second: podAffinity,
  },
  {
    name: 'example 2: podAffinity before nodeName + namespaceName',
    first: podAffinity,
    second: { ...nodeName, ...namespaceName },
  },
  {
    name: 'example 3: podAffinity + nodeName before podAffinity + namespaceName + multusName',
    first: { ...podAffinity, ...nodeName },
    second: { ...podAffinity, ...namespaceName, ...multusName },
  },
  { name: 'podAffinity before nodeName', first: podAffinity, second: nodeName },
  { name: 'nodeName before nodeAffinity', first: nodeName, second: nodeAffinity },
  { name: 'nodeAffinity before namespaceName', first: nodeAffinity, second: namespaceName },
  { name: 'namespaceName before namespaceAffinity', first: namespaceName, second: namespaceAffinity },
  { name: 'namespaceAffinity before multusName', first: namespaceAffinity, second: multusName },
  { name: 'multusName before nothing', first: multusName, second: {} },
  {
    name: 'the number of claims does not matter',
    first: nodeName,
    second: { ...nodeAffinity, ...namespaceName, ...multusName },
  },
])('$name', ({ first, second }) => {
  const a = candidate(first, 'z', 9);
  const b = candidate(second, 'a', 0);
  expect([b, a].sort(comparePools)).toEqual([a, b]);
  expect([a, b].sort(comparePools)).toEqual([a, b]);
});

test('equal pools are tried in the order the user listed', () => {
  expect(comparePools(candidate({}, 'z', 0), candidate({}, 'a', 1))).toBeLessThan(0);
});

test('what is listed at the same place goes by name in code-unit order', () => {
  expect(comparePools(candidate({}, 'B', 0), candidate({}, 'a', 0))).toBeLessThan(0);
});

test('a candidate is equal to itself', () => {
  expect(comparePools(candidate({}, 'a', 0), candidate({}, 'a', 0))).toBe(0);
});

function candidate(overrides: PoolOverrides, name: string, listedAt: number): Candidate {
  return { pool: buildPool({ name, ...overrides }), listedAt };
}
