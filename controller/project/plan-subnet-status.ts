import { isDeepStrictEqual } from 'node:util';
import { formatShortages, SHORTAGE_CONDITION, SHORTAGES_UNKNOWN } from '#pkg/autopool/shortage.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { omitAbsent } from '#pkg/decode/untrusted.ts';
import { formatCidr } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import { affinityApplication } from '#pkg/pool/auto-pool.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { settleConditions, type WantedCondition } from './condition.ts';
import { asRead, type JsonCount, toJsonCount } from './json-count.ts';
import type { KnownShortages } from './shortage-board.ts';

/** `status` of a SpiderSubnet. It is written as a whole. `allocatedIPCount` counts the addresses of pools, not of pods. */
export interface SubnetStatus {
  readonly totalIPCount: JsonCount;
  readonly allocatedIPCount: JsonCount;
  readonly freeIPCount: JsonCount;
  /** JSON as Spiderpool writes it: the ranges of each pool. */
  readonly controlledIPPools?: string;
  readonly conditions: readonly unknown[];
}

export interface SubnetFacts {
  readonly subnet: SpiderSubnet;
  readonly generation: number;
  /** Why it contradicts an earlier subnet or pool; else null. */
  readonly overlap: string | null;
  /** The applications that do not get what they want; null where no pools are made from subnets. */
  readonly shortages: KnownShortages | null;
}

const SUBNET_CONDITIONS = ['Ready', SHORTAGE_CONDITION, 'Overlap'];

/** The status that follows from its pools, or null if `before` is equal to it. `pools` may contain pools of other networks. */
export function planSubnetStatus(
  facts: SubnetFacts,
  pools: readonly Pool[],
  before: unknown,
  now: Date,
): SubnetStatus | null {
  const { subnet } = facts;
  const own = pools.filter((pool) => isPoolOfSubnet(subnet, pool)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const given = IntervalSet.of(own.flatMap(({ addresses }) => addresses.intersect(subnet.addresses).intervals()));
  const found = isMap(before) ? before : {};
  const conditions = settleConditions(found['conditions'], subnetConditions(facts), { ours: SUBNET_CONDITIONS, now });
  const status: SubnetStatus = omitAbsent({
    totalIPCount: toJsonCount(subnet.addresses.size),
    allocatedIPCount: toJsonCount(given.size),
    freeIPCount: toJsonCount(subnet.addresses.subtract(given).size),
    controlledIPPools:
      own.length === 0
        ? undefined
        : JSON.stringify(Object.fromEntries(own.map((pool) => [pool.name, controlled(subnet, pool)]))),
    conditions,
  });
  const { totalIPCount, allocatedIPCount, freeIPCount } = status;
  const readBack = {
    ...status,
    totalIPCount: asRead(totalIPCount),
    allocatedIPCount: asRead(allocatedIPCount),
    freeIPCount: asRead(freeIPCount),
  };
  return isDeepStrictEqual(readBack, found) ? null : status;
}

/** Ready, and Insufficient where pools are made from subnets, are always there; Overlap only if it is true. */
function subnetConditions({ subnet, generation, overlap, shortages }: SubnetFacts): WantedCondition[] {
  const condition = (
    type: string,
    status: WantedCondition['status'],
    reason: string,
    message = '',
  ): WantedCondition => ({
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
  shortages: KnownShortages,
  condition: (type: string, status: WantedCondition['status'], reason: string, message?: string) => WantedCondition,
): WantedCondition {
  if (typeof shortages === 'string') return condition(SHORTAGE_CONDITION, 'Unknown', SHORTAGES_UNKNOWN, shortages);
  return shortages.length === 0
    ? condition(SHORTAGE_CONDITION, 'False', 'Enough')
    : condition(SHORTAGE_CONDITION, 'True', 'Lacking', formatShortages(shortages));
}

export function isPoolOfSubnet({ domain, subnet }: SpiderSubnet, pool: Pick<Pool, 'domain' | 'subnet'>): boolean {
  return pool.domain === domain && formatCidr(pool.subnet) === formatCidr(subnet);
}

function controlled(subnet: SpiderSubnet, { addresses, family, auto, podAffinity }: Pool): object {
  const ips = addresses
    .intersect(subnet.addresses)
    .intervals()
    .map((interval) => formatRange(family, interval));
  // Not from the labels: a label has at most 63 characters, and a longer name is cut there and hashed.
  const application = auto === null ? null : affinityApplication(podAffinity?.matchLabels ?? {});
  return application === null ? { ips } : { ips, application: formatApplication(application) };
}

function formatApplication({ apiVersion, kind, namespace, name }: Omit<Controller, 'uid'>): string {
  return [apiVersion.replace('/', '_'), kind, namespace, name].join('_');
}
