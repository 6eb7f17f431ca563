import { isDeepStrictEqual } from 'node:util';
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
  readonly conditions?: readonly unknown[];
}

export interface SubnetFacts {
  readonly subnet: SpiderSubnet;
  readonly generation: number;
  /** Why it contradicts an earlier subnet or pool; else null. */
  readonly overlap: string | null;
}

const OWNER = 'ipam.spidernet.io/owner-application-';

/** The status that follows from its pools, or null if `before` is equal to it. `pools` may contain pools of other networks. */
export function planSubnetStatus(
  { subnet, generation, overlap }: SubnetFacts,
  pools: readonly PoolOfSubnet[],
  before: unknown,
  now: Date,
): SubnetStatus | null {
  const own = pools
    .filter(({ pool }) => isPoolOfSubnet(subnet, pool))
    .sort((a, b) => (a.pool.name < b.pool.name ? -1 : 1));
  const given = IntervalSet.of(own.flatMap(({ pool }) => pool.addresses.intersect(subnet.addresses).intervals()));
  const found = isMap(before) ? before : {};
  const wanted: WantedCondition[] =
    overlap === null
      ? []
      : [{ type: 'Overlap', status: 'True', reason: 'Later', message: overlap, observedGeneration: generation }];
  const conditions = settleConditions(found['conditions'], wanted, { ours: ['Overlap'], now });
  const status: SubnetStatus = omitAbsent({
    totalIPCount: toJsonCount(subnet.addresses.size),
    allocatedIPCount: toJsonCount(given.size),
    controlledIPPools:
      own.length === 0
        ? undefined
        : JSON.stringify(Object.fromEntries(own.map((one) => [one.pool.name, controlled(subnet, one)]))),
    conditions: conditions.length === 0 ? undefined : conditions,
  });
  const { totalIPCount, allocatedIPCount } = status;
  const readBack = { ...status, totalIPCount: asRead(totalIPCount), allocatedIPCount: asRead(allocatedIPCount) };
  return isDeepStrictEqual(readBack, found) ? null : status;
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
