import { expect, test } from 'vitest';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { buildPool, type PoolOverrides } from '#test/support/build-pool.ts';
import { planSubnetStatus } from './plan-subnet-status.ts';

const subnet = decodeSpiderSubnet({
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderSubnet',
  metadata: { name: 's' },
  spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.1-10.0.0.30'] },
});
const pool = (name: string, overrides: PoolOverrides = {}, labels: Record<string, string> = {}) => ({
  pool: buildPool({ name, ips: ['10.0.0.1'], ...overrides }),
  labels,
});

test('what its pools were given, by name and as ranges; pools of other networks and domains are not its own', () => {
  const owner = 'ipam.spidernet.io/owner-application-';
  const labels = {
    [`${owner}gv`]: 'apps_v1',
    [`${owner}kind`]: 'Deployment',
    [`${owner}namespace`]: 'prod',
    [`${owner}name`]: 'web',
  };
  const pools = [
    pool('z-hand', { ips: ['10.0.0.20', '10.0.0.29-10.0.0.40'] }),
    pool('auto4-web', { ips: ['10.0.0.10-10.0.0.12'], isAuto: true }, labels),
    pool('blue', { domain: 'blue' }),
    pool('elsewhere', { subnet: '10.1.0.0/24', ips: ['10.1.0.1'] }),
  ];
  const status = planSubnetStatus(subnet, pools, undefined);
  expect(status).toEqual({
    totalIPCount: 30,
    allocatedIPCount: 6,
    controlledIPPools:
      '{"auto4-web":{"ips":["10.0.0.10-10.0.0.12"],"application":"apps_v1_Deployment_prod_web"},' +
      '"z-hand":{"ips":["10.0.0.20","10.0.0.29-10.0.0.30"]}}',
  });
  expect(planSubnetStatus(subnet, pools, status)).toBeNull();
  expect(planSubnetStatus(subnet, pools, { ...status, allocatedIPCount: 5 })).toEqual(status);
});

test('without pools there is no controlledIPPools at all', () => {
  expect(planSubnetStatus(subnet, [], {})).toEqual({ totalIPCount: 30, allocatedIPCount: 0 });
});

test('conditions of others stay', () => {
  const conditions = [{ type: 'Audited' }];
  expect(planSubnetStatus(subnet, [], { conditions })).toMatchObject({ conditions });
});
