import { expect, test } from 'vitest';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { buildAutoPool } from '#test/support/build-auto-pool.ts';
import { buildPool, type PoolOverrides } from '#test/support/build-pool.ts';
import { keyOf } from '#test/support/build-situation.ts';
import { planSubnetStatus, type SubnetFacts } from './plan-subnet-status.ts';

const subnet = decodeSpiderSubnet({
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderSubnet',
  metadata: { name: 's' },
  spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.1-10.0.0.30'] },
});
const NOW = new Date('2026-11-16T10:00:00Z');
const READY = {
  type: 'Ready',
  status: 'True',
  reason: 'Serving',
  message: '',
  observedGeneration: 3,
  lastTransitionTime: '2026-11-16T10:00:00Z',
};
const plan = (pools: readonly Pool[], before: unknown, facts: Partial<SubnetFacts> = {}) =>
  planSubnetStatus({ subnet, overlap: null, generation: 3, shortages: null, ...facts }, pools, before, NOW);
const pool = (name: string, overrides: PoolOverrides = {}) => buildPool({ name, ips: ['10.0.0.1'], ...overrides });

test('what its pools were given, by name and as ranges; pools of other networks and domains are not its own', () => {
  const name = 'w'.repeat(80);
  const pools = [
    pool('z-hand', { ips: ['10.0.0.20', '10.0.0.29-10.0.0.40'] }),
    buildAutoPool(keyOf(name), { name: 'auto4-web', ips: ['10.0.0.10-10.0.0.12'] }),
    pool('blue', { domain: 'blue' }),
    pool('elsewhere', { subnet: '10.1.0.0/24', ips: ['10.1.0.1'] }),
  ];
  const status = plan(pools, undefined);
  expect(status).toEqual({
    totalIPCount: 30,
    allocatedIPCount: 6,
    freeIPCount: 24,
    controlledIPPools:
      `{"auto4-web":{"ips":["10.0.0.10-10.0.0.12"],"application":"apps_v1_Deployment_prod_${name}"},` +
      '"z-hand":{"ips":["10.0.0.20","10.0.0.29-10.0.0.30"]}}',
    conditions: [READY],
  });
  expect(plan(pools, status)).toBeNull();
  expect(plan(pools, { ...status, allocatedIPCount: 5 })).toEqual(status);
  expect(plan(pools, { ...status, freeIPCount: 25 })).toEqual(status);
});

test('without pools there is no controlledIPPools at all', () => {
  expect(plan([], {})).toEqual({ totalIPCount: 30, allocatedIPCount: 0, freeIPCount: 30, conditions: [READY] });
});

test('conditions of others stay', () => {
  const conditions = [{ type: 'Audited' }];
  expect(plan([], { conditions })).toMatchObject({ conditions: [READY, ...conditions] });
});

test('a subnet that contradicts an earlier object says so while it does', () => {
  const status = plan([], undefined, { overlap: 'the networks of Subnet a and Subnet b overlap' });
  expect(status?.conditions).toEqual([
    READY,
    {
      type: 'Overlap',
      status: 'True',
      reason: 'Later',
      message: 'the networks of Subnet a and Subnet b overlap',
      observedGeneration: 3,
      lastTransitionTime: '2026-11-16T10:00:00Z',
    },
  ]);
  expect(plan([], status)?.conditions).toEqual([READY]);
});

test('who lacks how many is said while it is so', () => {
  const application = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'prod', name: 'web' };
  const shortages = [{ application, interface: 'eth0', why: 'required 5 more for 5 in all, left 2' }];
  const status = plan([], undefined, { shortages });
  expect(status?.conditions).toMatchObject([
    { type: 'Ready' },
    {
      type: 'Insufficient',
      status: 'True',
      reason: 'Lacking',
      message: 'apps/v1 Deployment prod/web eth0: required 5 more for 5 in all, left 2',
    },
  ]);
  expect(plan([], status, { shortages: [] })?.conditions).toMatchObject([
    { type: 'Ready' },
    { type: 'Insufficient', status: 'False', reason: 'Enough' },
  ]);
});

test('a subnet that is being deleted is not ready', () => {
  const status = plan([], undefined, { subnet: { ...subnet, isTerminating: true } });
  expect(status?.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'Terminating' }]);
});

test('while it is not known who lacks what, the condition says why', () => {
  const status = plan([], undefined, { shortages: 'no pool is made yet' });
  expect(status?.conditions).toMatchObject([
    { type: 'Ready' },
    { type: 'Insufficient', status: 'Unknown', reason: 'Waiting', message: 'no pool is made yet' },
  ]);
});
