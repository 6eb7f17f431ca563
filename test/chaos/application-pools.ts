import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { askOf, isAsking, RECLAIM, subnetOf } from './application-asks.ts';
import type { ApiObject } from './chaos-api.ts';
import type { Sandbox } from './sandboxes.ts';

const SUBNET_LABEL = 'ipam.spidernet.io/owner-spider-subnet';
const UID_LABEL = 'ipam.spidernet.io/owner-application-uid';
const KIND_LABEL = 'ipam.spidernet.io/owner-application-kind';
const NAME_LABEL = 'ipam.spidernet.io/owner-application-name';

/** Addresses that two pools of one subnet have at once. */
export function findShared(pools: readonly ApiObject[]): { readonly address: string; readonly what: string }[] {
  const own = pools.filter((pool) => subnetOfPool(pool) !== undefined);
  return own.flatMap((pool, at) =>
    own.slice(at + 1).flatMap((other) => {
      if (subnetOfPool(pool) !== subnetOfPool(other)) return [];
      const [shared] = addressesOf(pool).intersect(addressesOf(other)).intervals();
      if (shared === undefined) return [];
      const what = `in two pools of a subnet: ${pool.metadata.name} and ${other.metadata.name}`;
      return [{ address: formatAddress({ family: 4, value: shared.first }), what }];
    }),
  );
}

export interface Applications {
  readonly deployments: readonly ApiObject[];
  readonly statefulSets: readonly ApiObject[];
  readonly replicaSets: readonly ApiObject[];
  readonly pods: readonly ApiObject[];
  readonly pools: readonly ApiObject[];
  readonly live: readonly Sandbox[];
}

/**
 * In a settled cluster every pod with a subnet is on an address of its application's pool in that subnet, and there is no pool but
 * those of applications that name its subnet, and those that are to stay.
 */
export function judgeApplications(world: Applications): string[] {
  return [...judgePods(world), ...judgePools(world)];
}

function judgePods({ replicaSets, pods, pools, live }: Applications): string[] {
  const setOf = new Map(replicaSets.map((set) => [set.metadata.uid, set]));
  const podOf = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
  return live.flatMap(({ uid, podKey, address }) => {
    const pod = podOf.get(uid);
    if (pod === undefined || !isAsking(askOf(pod))) return [];
    const maker = ownerOf(pod);
    const set = setOf.get(maker ?? '');
    const application = set === undefined ? maker : ownerOf(set);
    const own = pools.filter(
      (pool) => labelOf(pool, UID_LABEL) === application && subnetOfPool(pool) === subnetOf(askOf(pod)),
    );
    const { value } = parseAddress(address);
    if (own.some((pool) => addressesOf(pool).contains(value))) return [];
    return [`${address} of ${podKey} is not of the pool of its application: ${own.map(shown)}`];
  });
}

function judgePools({ deployments, statefulSets, pools }: Applications): string[] {
  const there = [
    ...deployments.map((it) => ({ kind: 'Deployment', it })),
    ...statefulSets.map((it) => ({ kind: 'StatefulSet', it })),
  ];
  return pools.flatMap((pool) => {
    const uid = labelOf(pool, UID_LABEL);
    if (uid === undefined) return [];
    const names = ({ it }: (typeof there)[number]) => subnetOf(askOf(it)) === subnetOfPool(pool);
    const application = there.find(({ it }) => it.metadata.uid === uid);
    if (application !== undefined && names(application)) {
      const isFirst = pools.find((other) => isOfSame(other, pool)) === pool;
      return isFirst ? [] : [`one more pool of an application: ${shown(pool)}`];
    }
    if (labelOf(pool, RECLAIM) !== 'false') {
      const whose = application === undefined ? 'is gone' : 'names another subnet';
      return [`the pool of an application that ${whose}: ${shown(pool)}`];
    }
    if (addressesOf(pool).isEmpty) return [`a pool that stays and has no address: ${shown(pool)}`];
    const next = there.find(
      ({ kind, it }) => kind === labelOf(pool, KIND_LABEL) && it.metadata.name === labelOf(pool, NAME_LABEL),
    );
    const isMissed = application === undefined && next !== undefined && names(next);
    return isMissed ? [`a pool that stays did not come back to its application: ${shown(pool)}`] : [];
  });
}

function isOfSame(one: ApiObject, other: ApiObject): boolean {
  return labelOf(one, UID_LABEL) === labelOf(other, UID_LABEL) && subnetOfPool(one) === subnetOfPool(other);
}

function ownerOf({ metadata }: ApiObject): string | undefined {
  return metadata.ownerReferences?.[0]?.uid;
}

function labelOf({ metadata }: ApiObject, label: string): string | undefined {
  return metadata.labels?.[label];
}

function subnetOfPool(pool: ApiObject): string | undefined {
  return labelOf(pool, SUBNET_LABEL);
}

function addressesOf({ spec }: ApiObject): IntervalSet {
  return IntervalSet.of(rangesOf(spec).map((range) => parseRange(range)));
}

function shown({ metadata: { name }, spec }: ApiObject): string {
  return `${name} [${rangesOf(spec)}]`;
}

function rangesOf(spec: ApiObject['spec']): readonly string[] {
  return (spec?.['ips'] ?? []) as readonly string[];
}
