import { isDeepStrictEqual } from 'node:util';
import { formatShortages, SHORTAGE_CONDITION, type Shortage } from '#pkg/autopool/shortage.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { omitAbsent } from '#pkg/decode/untrusted.ts';
import { formatCidr } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { settleConditions, type WantedCondition } from './condition.ts';
import { asRead, type JsonCount, toJsonCount } from './json-count.ts';

export interface PoolOfSubnet {
  readonly pool: Pool;
  readonly labels: NonNullable<KubeObject['metadata']['labels']>;
}

/** `status` of a SpiderSubnet. It is written as a whole. `allocatedIPCount` counts the addresses of pools, not of pods. */
export interface SubnetStatus {
  readonly totalIPCount: JsonCount;
  readonly allocatedIPCount: JsonCount;
  /** JSON as Spiderpool writes it: the ranges of each pool. */
  readonly controlledIPPools?: string;
  readonly conditions: readonly unknown[];
}

export interface SubnetFacts {
  readonly subnet: SpiderSubnet;
  readonly generation: number;
  /** Why it contradicts an earlier subnet or pool; else null. */
  readonly overlap: string | null;
  /** Who does not get what it wants; null where no pools are made from subnets. */
  readonly shortages: readonly Shortage[] | null;
}

const SUBNET_CONDITIONS = ['Ready', SHORTAGE_CONDITION, 'Overlap'];

const OWNER = 'ipam.spidernet.io/owner-application-';

/** The status that follows from its pools, or null if `before` is equal to it. `pools` may contain pools of other networks. */
export function planSubnetStatus(
  facts: SubnetFacts,
  pools: readonly PoolOfSubnet[],
  before: unknown,
  now: Date,
): SubnetStatus | null {
  const { subnet } = facts;
  const own = pools
    .filter(({ pool }) => isPoolOfSubnet(subnet, pool))
    .sort((a, b) => (a.pool.name < b.pool.name ? -1 : 1));
  const given = IntervalSet.of(own.flatMap(({ pool }) => pool.addresses.intersect(subnet.addresses).intervals()));
  const found = isMap(before) ? before : {};
  const conditions = settleConditions(found['conditions'], subnetConditions(facts), { ours: SUBNET_CONDITIONS, now });
  const status: SubnetStatus = omitAbsent({
    totalIPCount: toJsonCount(subnet.addresses.size),
    allocatedIPCount: toJsonCount(given.size),
    controlledIPPools:
      own.length === 0
        ? undefined
        : JSON.stringify(Object.fromEntries(own.map((one) => [one.pool.name, controlled(subnet, one)]))),
    conditions,
  });
  const { totalIPCount, allocatedIPCount } = status;
  const readBack = { ...status, totalIPCount: asRead(totalIPCount), allocatedIPCount: asRead(allocatedIPCount) };
  return isDeepStrictEqual(readBack, found) ? null : status;
}

/** Ready, and Insufficient where pools are made from subnets, are always there; Overlap only if it is true. */
function subnetConditions({ subnet, generation, overlap, shortages }: SubnetFacts): WantedCondition[] {
  const condition = (type: string, status: 'True' | 'False', reason: string, message = ''): WantedCondition => ({
    type,
    status,
    reason,
    message,
    observedGeneration: generation,
  });
  const ready = subnet.isTerminating
    ? condition('Ready', 'False', 'Terminating', 'no new pools are made from it; it goes when its last pool is gone')
    : condition('Ready', 'True', 'Serving');
  return [
    ready,
    ...(shortages === null ? [] : [shortageCondition(shortages, condition)]),
    ...(overlap === null ? [] : [condition('Overlap', 'True', 'Later', overlap)]),
  ];
}

function shortageCondition(
  shortages: readonly Shortage[],
  condition: (type: string, status: 'True' | 'False', reason: string, message?: string) => WantedCondition,
): WantedCondition {
  return shortages.length === 0
    ? condition(SHORTAGE_CONDITION, 'False', 'Enough')
    : condition(SHORTAGE_CONDITION, 'True', 'Lacking', formatShortages(shortages));
}

export function isPoolOfSubnet({ domain, subnet }: SpiderSubnet, pool: Pick<Pool, 'domain' | 'subnet'>): boolean {
  return pool.domain === domain && formatCidr(pool.subnet) === formatCidr(subnet);
}

function controlled(subnet: SpiderSubnet, { pool, labels }: PoolOfSubnet): object {
  const ips = pool.addresses
    .intersect(subnet.addresses)
    .intervals()
    .map((interval) => formatRange(pool.family, interval));
  const parts = ['gv', 'kind', 'namespace', 'name'].map((part) => labels[OWNER + part] ?? '');
  return pool.auto !== null ? { ips, application: parts.join('_') } : { ips };
}
