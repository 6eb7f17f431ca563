import { expect, test } from 'vitest';
import { renderSubnets, type SubnetSummary } from './render-subnets.ts';

const OFFICE: SubnetSummary = {
  name: 'office',
  subnet: '10.6.0.0/16',
  domain: 'default',
  total: '100',
  inPools: '7',
  free: '90',
  isTerminating: false,
  pools: [
    {
      name: 'auto4-web-eth0-1f2e3',
      application: 'Deployment prod/web',
      interface: 'eth0',
      used: '2',
      total: '5',
      ips: ['10.6.0.10-10.6.0.14'],
    },
    { name: 'by-hand', application: null, interface: null, used: '0', total: '2', ips: ['a', 'b', 'c', 'd', 'e'] },
  ],
  waiting: ['apps/v1 Deployment prod/db eth0: required 200 more for 200 in all, left 90'],
};

test('subnets, their pools with the application, and who waits', () => {
  const gone = { ...OFFICE, name: 'gone', pools: [], waiting: [], isTerminating: true };
  expect(renderSubnets({ subnets: [OFFICE, gone], problems: ['SpiderSubnet bad: spec.subnet is missing'] })).toBe(
    [
      'NAME    SUBNET       TOTAL  IN-POOLS  FREE  DOMAIN   FLAGS',
      'office  10.6.0.0/16  100    7         90    default  -',
      'gone    10.6.0.0/16  100    7         90    default  terminating',
      '',
      'SUBNET  POOL                  APPLICATION          INTERFACE  USED/TOTAL  IPS',
      'office  auto4-web-eth0-1f2e3  Deployment prod/web  eth0       2/5         10.6.0.10-10.6.0.14',
      'office  by-hand               -                    -          0/2         a,b,c and 2 more',
      '',
      'waiting for office: apps/v1 Deployment prod/db eth0: required 200 more for 200 in all, left 90',
      '',
      'problem: SpiderSubnet bad: spec.subnet is missing',
      '',
    ].join('\n'),
  );
});

test('a cluster without subnets', () => {
  expect(renderSubnets({ subnets: [], problems: [] })).toBe('No subnets.\n');
});
