import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { type IpRecord, RECORD_STATES } from '#pkg/record/ip-record.ts';
import { usableAddresses } from '#pkg/record/pool-summary.ts';
import { isHeld, recordedAddresses, recordValue } from '#pkg/record/record-value.ts';
import type { CONTROLLER_METRICS } from './metric-names.ts';
import { isPoolOfSubnet } from './plan-subnet-status.ts';
import { type PoolFacts, readiness } from './pool-conditions.ts';

export interface Sample {
  readonly name: keyof typeof CONTROLLER_METRICS;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface GaugedPool {
  readonly facts: PoolFacts;
  readonly records: readonly IpRecord[];
}

/** All gauges of pools and subnets now. A gauge that is missing here no longer exists. */
export function poolGauges(pools: readonly GaugedPool[], subnets: readonly SpiderSubnet[]): Sample[] {
  return [
    { name: 'spiderpool_total_ippool_counts', labels: {}, value: pools.length },
    { name: 'spiderpool_total_subnet_counts', labels: {}, value: subnets.length },
    ...pools.flatMap(samplesOfPool),
    ...subnets.flatMap((subnet) => samplesOfSubnet(subnet, pools)),
  ];
}

function samplesOfPool({ facts, records }: GaugedPool): Sample[] {
  const { name, pool, reserved } = facts;
  const upstream = { SpiderIPPool: name };
  const { status, reason } = readiness(facts);
  const states = RECORD_STATES.map(
    (state): Sample => ({
      name: 'ipledger_pool_records',
      labels: { pool: name, state },
      value: records.filter(({ spec }) => spec.state === state).length,
    }),
  );
  const ready: Sample = {
    name: 'ipledger_pool_ready',
    labels: { pool: name, reason },
    value: status === 'True' ? 1 : 0,
  };
  if (pool === null) return [ready, ...states];
  const available = usableAddresses(pool, reserved).subtract(recordedAddresses(pool.family, records));
  const outside = records.filter((record) => isHeld(record) && !pool.addresses.contains(recordValue(record)));
  return [
    { name: 'spiderpool_debug_ippool_total_ip_counts', labels: upstream, value: Number(pool.addresses.size) },
    { name: 'spiderpool_debug_ippool_available_ip_counts', labels: upstream, value: Number(available.size) },
    ready,
    ...states,
    { name: 'ipledger_pool_outside_records', labels: { pool: name }, value: outside.length },
  ];
}

function samplesOfSubnet(subnet: SpiderSubnet, pools: readonly GaugedPool[]): Sample[] {
  const labels = { SpiderSubnet: subnet.name };
  const own = pools
    .map(({ facts }) => facts.pool)
    .filter((pool) => pool !== null)
    .filter((pool) => isPoolOfSubnet(subnet, pool));
  const given = IntervalSet.of(own.flatMap(({ addresses }) => addresses.intervals()));
  return [
    { name: 'spiderpool_debug_subnet_ippool_counts', labels, value: own.length },
    { name: 'spiderpool_debug_subnet_total_ip_counts', labels, value: Number(subnet.addresses.size) },
    {
      name: 'spiderpool_debug_subnet_available_ip_counts',
      labels,
      value: Number(subnet.addresses.subtract(given).size),
    },
  ];
}
