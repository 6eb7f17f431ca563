import { isDeepStrictEqual } from 'node:util';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { omitAbsent } from '#pkg/decode/untrusted.ts';
import { formatCidr } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { asRead, type JsonCount, toJsonCount } from './json-count.ts';

export interface PoolOfSubnet {
  readonly pool: Pool;
  readonly labels: NonNullable<KubeObject['metadata']['labels']>;
}

/** `status` of a SpiderSubnet, to be written whole. `allocatedIPCount` counts what pools were given, not what pods have. */
export interface SubnetStatus {
  readonly totalIPCount: JsonCount;
  readonly allocatedIPCount: JsonCount;
  /** JSON: pool to what it was given, as Spiderpool writes it. */
  readonly controlledIPPools?: string;
}

const OWNER = 'ipam.spidernet.io/owner-application-';

/** The status that its pools make, or null where `before` says so already. `pools` may hold those of other networks too. */
export function planSubnetStatus(
  subnet: SpiderSubnet,
  pools: readonly PoolOfSubnet[],
  before: unknown,
): SubnetStatus | null {
  const own = pools
    .filter(({ pool }) => isPoolOfSubnet(subnet, pool))
    .sort((a, b) => (a.pool.name < b.pool.name ? -1 : 1));
  const given = IntervalSet.of(own.flatMap(({ pool }) => pool.addresses.intersect(subnet.addresses).intervals()));
  const found = isMap(before) ? before : {};
  const status: SubnetStatus = omitAbsent({
    totalIPCount: toJsonCount(subnet.addresses.size),
    allocatedIPCount: toJsonCount(given.size),
    controlledIPPools:
      own.length === 0
        ? undefined
        : JSON.stringify(Object.fromEntries(own.map((one) => [one.pool.name, controlled(subnet, one)]))),
    ...(found['conditions'] === undefined ? {} : { conditions: found['conditions'] }), // written by others
  });
  const { totalIPCount, allocatedIPCount } = status;
  const readBack = { ...status, totalIPCount: asRead(totalIPCount), allocatedIPCount: asRead(allocatedIPCount) };
  return isDeepStrictEqual(readBack, found) ? null : status;
}

export function isPoolOfSubnet({ domain, subnet }: SpiderSubnet, pool: Pool): boolean {
  return pool.domain === domain && formatCidr(pool.subnet) === formatCidr(subnet);
}

function controlled(subnet: SpiderSubnet, { pool, labels }: PoolOfSubnet): object {
  const ips = pool.addresses
    .intersect(subnet.addresses)
    .intervals()
    .map((interval) => formatRange(pool.family, interval));
  const parts = ['gv', 'kind', 'namespace', 'name'].map((part) => labels[OWNER + part] ?? '');
  return pool.isAuto ? { ips, application: parts.join('_') } : { ips };
}
