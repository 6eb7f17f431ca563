import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { ApiObject } from './chaos-api.ts';
import type { Sandbox } from './sandboxes.ts';

export const APPLICATION_SUBNET = 'applications';
export const APPLICATION_NETWORK = '10.62.0.';
export const SUBNET_ANNOTATION = 'ipam.spidernet.io/subnet';
const SUBNET_LABEL = 'ipam.spidernet.io/owner-spider-subnet';
const APPLICATION_LABEL = 'ipam.spidernet.io/owner-application-uid';

/** Addresses that two pools of one subnet have at once. */
export function findShared(pools: readonly ApiObject[]): { readonly address: string; readonly what: string }[] {
  const own = pools.filter((pool) => pool.metadata.labels?.[SUBNET_LABEL] !== undefined);
  return own.flatMap((pool, at) =>
    own.slice(at + 1).flatMap((other) => {
      if (subnetOf(pool) !== subnetOf(other)) return [];
      const [shared] = addressesOf(pool).intersect(addressesOf(other)).intervals();
      if (shared === undefined) return [];
      const what = `in two pools of a subnet: ${pool.metadata.name} and ${other.metadata.name}`;
      return [{ address: formatAddress({ family: 4, value: shared.first }), what }];
    }),
  );
}

export interface Applications {
  readonly deployments: readonly ApiObject[];
  readonly replicaSets: readonly ApiObject[];
  readonly pods: readonly ApiObject[];
  readonly pools: readonly ApiObject[];
  readonly live: readonly Sandbox[];
}

/** In a settled cluster every pod with a subnet is on an address of its application's pool, and no pool is left of an application that is gone. */
export function judgeApplications({ deployments, replicaSets, pods, pools, live }: Applications): string[] {
  const there = new Set(deployments.map(({ metadata }) => metadata.uid));
  const left = pools.filter(({ metadata }) => {
    const uid = metadata.labels?.[APPLICATION_LABEL];
    return uid !== undefined && !there.has(uid);
  });
  const ownerOf = ({ metadata }: ApiObject) => metadata.ownerReferences?.[0]?.uid;
  const setOf = new Map(replicaSets.map((set) => [set.metadata.uid, set]));
  const podOf = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
  const astray = live.flatMap(({ uid, podKey, address }) => {
    const pod = podOf.get(uid);
    if (pod?.metadata.annotations?.[SUBNET_ANNOTATION] === undefined) return [];
    const set = setOf.get(ownerOf(pod) ?? '');
    const application = set === undefined ? undefined : ownerOf(set);
    const own = pools.filter(({ metadata }) => metadata.labels?.[APPLICATION_LABEL] === application);
    const { value } = parseAddress(address);
    if (own.some((pool) => addressesOf(pool).contains(value))) return [];
    return [`${address} of ${podKey} is not of the pool of its application: ${own.map(shown)}`];
  });
  return [...astray, ...left.map((pool) => `the pool of an application that is gone: ${shown(pool)}`)];
}

function subnetOf({ metadata }: ApiObject): string | undefined {
  return metadata.labels?.[SUBNET_LABEL];
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
