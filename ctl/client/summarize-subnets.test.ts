import { expect, test } from 'vitest';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { autoKey, buildAutoPool } from '#test/support/build-auto-pool.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { summarizeSubnet } from './summarize-subnets.ts';

const subnet = decodeSpiderSubnet({
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderSubnet',
  metadata: { name: 'office', uid: 'u' },
  spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.1-10.0.0.50'], excludeIPs: ['10.0.0.50'], gateway: '10.0.0.1' },
});
const auto = buildAutoPool(autoKey(), { name: 'auto', ips: ['10.0.0.10-10.0.0.14', '10.0.0.20'] });
const record = (address: string, pool: string, domain = 'default'): IpRecord => {
  const spec = specOf(address);
  return {
    name: address,
    uid: address,
    resourceVersion: '1',
    createdAt: '2026-11-16T10:00:00Z',
    spec: { ...spec, domain, pool: { ...spec.pool, name: pool } },
  };
};

test('what a subnet has: its pools, what they use, and what is free', () => {
  const world = {
    pools: [
      buildPool({ name: 'by-hand', ips: ['10.0.0.30-10.0.0.39'] }),
      auto,
      buildPool({ name: 'other-network', subnet: '10.1.0.0/24' }),
      buildPool({ name: 'other-domain', ips: ['10.0.0.2-10.0.0.9'], domain: 'blue' }),
    ],
    records: [
      record('10.0.0.10', 'auto'),
      record('10.0.0.11', 'auto'),
      record('10.0.0.2', 'gone'), // of a pool that was deleted
      record('10.0.0.3', 'other-domain', 'blue'),
    ],
    reserved: { 4: IntervalSet.of([parseRange('10.0.0.40-10.0.0.44')]), 6: IntervalSet.EMPTY },
  };
  expect(summarizeSubnet({ subnet, waiting: ['somebody waits'] }, world)).toEqual({
    name: 'office',
    subnet: '10.0.0.0/24',
    domain: 'default',
    total: '49',
    inPools: '16',
    free: String(49 - 16 - 5 - 1 - 1),
    isTerminating: false,
    pools: [
      {
        name: 'auto',
        application: 'Deployment prod/web',
        interface: 'eth0',
        used: '2',
        total: '6',
        ips: ['10.0.0.10-10.0.0.14', '10.0.0.20'],
      },
      { name: 'by-hand', application: null, interface: null, used: '0', total: '10', ips: ['10.0.0.30-10.0.0.39'] },
    ],
    waiting: ['somebody waits'],
  });
});
