import { expect, test } from 'vitest';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { buildPool, type PoolOverrides } from '#test/support/build-pool.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { CONTROLLER_METRICS } from './metric-names.ts';
import type { PoolFacts } from './pool-conditions.ts';
import { poolGauges } from './pool-gauges.ts';
import { PoolTally } from './pool-tally.ts';

const facts = (name: string, pool: PoolOverrides = {}, more: Partial<PoolFacts> = {}): PoolFacts => ({
  name,
  generation: 1,
  pool: buildPool({ name, ips: ['10.0.0.1-10.0.0.9'], ...pool }),
  problem: null,
  overlap: null,
  subnetOverlap: null,
  reserved: IntervalSet.EMPTY,
  ...more,
});
const subnet = (ips: string) =>
  decodeSpiderSubnet({
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderSubnet',
    metadata: { name: 's' },
    spec: { subnet: '10.0.0.0/24', ips: [ips] },
  });

const gauges = (...args: Parameters<typeof poolGauges>) =>
  Object.fromEntries(poolGauges(...args).map(({ name, labels, value }) => [`${name}${JSON.stringify(labels)}`, value]));

test('what is available is neither reserved nor in any record', () => {
  const reserved = IntervalSet.of([parseRange('10.0.0.9-10.0.0.20')]);
  const records = [
    buildRecord({ address: '10.0.0.1' }),
    buildRecord({ address: '10.0.0.2', state: 'Cooling' }),
    buildRecord({ address: '10.0.0.30' }),
  ];
  expect(gauges([PoolTally.of(facts('a', {}, { reserved }), records)], [])).toMatchObject({
    'spiderpool_total_ippool_counts{}': 1,
    'spiderpool_debug_ippool_total_ip_counts{"SpiderIPPool":"a"}': 9,
    'spiderpool_debug_ippool_available_ip_counts{"SpiderIPPool":"a"}': 6,
    'ipledger_pool_records{"pool":"a","state":"Allocated"}': 2,
    'ipledger_pool_records{"pool":"a","state":"Cooling"}': 1,
    'ipledger_pool_records{"pool":"a","state":"Suspect"}': 0,
    'ipledger_pool_outside_records{"pool":"a"}': 1,
    'ipledger_pool_ready{"pool":"a","reason":"Serving"}': 1,
  });
});

test('a pool that cannot be read has no counts, and is not ready', () => {
  const found = gauges([PoolTally.of(facts('a', {}, { pool: null, problem: 'spec.ips: bad' }), [])], []);
  expect(found['ipledger_pool_ready{"pool":"a","reason":"Invalid"}']).toBe(0);
  expect(Object.keys(found).filter((key) => key.includes('total_ip_counts'))).toEqual([]);
});

test('every subnet has its own numbers', () => {
  const pools = [facts('a'), facts('b', { ips: ['10.0.0.20'] }), facts('c', { domain: 'blue' })];
  expect(
    gauges(
      pools.map((it) => PoolTally.of(it, [])),
      [subnet('10.0.0.1-10.0.0.30')],
    ),
  ).toMatchObject({
    'spiderpool_total_subnet_counts{}': 1,
    'spiderpool_debug_subnet_ippool_counts{"SpiderSubnet":"s"}': 2,
    'spiderpool_debug_subnet_total_ip_counts{"SpiderSubnet":"s"}': 30,
    'spiderpool_debug_subnet_available_ip_counts{"SpiderSubnet":"s"}': 20,
  });
});

test('every sample has exactly the labels that its metric is declared with', () => {
  const samples = poolGauges([PoolTally.of(facts('a'), [buildRecord()])], [subnet('10.0.0.1')]);
  for (const { name, labels } of samples) expect(Object.keys(labels)).toEqual([...CONTROLLER_METRICS[name].labels]);
  const gaugeNames = Object.entries(CONTROLLER_METRICS).flatMap(([name, { type }]) => (type === 'gauge' ? [name] : []));
  expect([...new Set(samples.map(({ name }) => name))].sort()).toEqual(gaugeNames.sort());
});
