import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { RECORD_STATES } from '#pkg/record/ip-record.ts';
import type { CONTROLLER_METRICS } from './metric-names.ts';
import { isPoolOfSubnet } from './plan-subnet-status.ts';
import { readiness } from './pool-conditions.ts';
import type { PoolTally } from './pool-tally.ts';

export interface Sample {
  readonly name: keyof typeof CONTROLLER_METRICS;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All gauges of pools and subnets now. A gauge that is missing here no longer exists. */
export function poolGauges(pools: readonly PoolTally[], subnets: readonly SpiderSubnet[]): Sample[] {
  return [
    { name: 'spiderpool_total_ippool_counts', labels: {}, value: pools.length },
    { name: 'spiderpool_total_subnet_counts', labels: {}, value: subnets.length },
    ...pools.flatMap(samplesOfPool),
    ...subnets.flatMap((subnet) => samplesOfSubnet(subnet, pools)),
  ];
}

function samplesOfPool({ facts, byState, available, outside }: PoolTally): Sample[] {
  const { name, pool } = facts;
  const upstream = { SpiderIPPool: name };
  const { status, reason } = readiness(facts);
  const states = RECORD_STATES.map(
    (state): Sample => ({
      name: 'ipledger_pool_records',
      labels: { pool: name, state },
      value: byState.get(state) ?? 0,
    }),
  );
  const ready: Sample = {
    name: 'ipledger_pool_ready',
    labels: { pool: name, reason },
    value: status === 'True' ? 1 : 0,
  };
  if (pool === null) return [ready, ...states];
  return [
    { name: 'spiderpool_debug_ippool_total_ip_counts', labels: upstream, value: Number(pool.addresses.size) },
    { name: 'spiderpool_debug_ippool_available_ip_counts', labels: upstream, value: Number(available) },
    ready,
    ...states,
    { name: 'ipledger_pool_outside_records', labels: { pool: name }, value: outside.length },
  ];
}

function samplesOfSubnet(subnet: SpiderSubnet, pools: readonly PoolTally[]): Sample[] {
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
