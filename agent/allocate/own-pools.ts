import type { CatalogSnapshot } from '#agent/sources/pool-catalog.ts';
import { relationTo } from '#pkg/autopool/identity.ts';
import type { Family } from '#pkg/ip/address.ts';
import { subnetSource } from '#pkg/pool/asked-pools.ts';
import { type AutoPoolKey, affinityApplication } from '#pkg/pool/auto-pool.ts';
import type { SubnetCandidates } from '#pkg/pool/candidates.ts';
import { compareText } from '#pkg/pool/order.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Controller, PoolRequest } from '#pkg/pool/request.ts';

type Pools = CatalogSnapshot['pools'];

/** Which pool a pod wants that names a subnet; null: it names none of this family. */
export function autoPoolKey(
  { subnets, application }: SubnetCandidates,
  family: Family,
  nic: string,
): AutoPoolKey | null {
  const subnet = family === 4 ? subnets.v4 : subnets.v6;
  return subnet === null ? null : { subnet, application, interface: nic, family };
}

/** Normally one, or none while the controller has not made it. Somebody may have made a second one by hand. */
export function ownPools(pools: Pools, key: AutoPoolKey): Pool[] {
  return poolsNamedAfter(pools, key.application)
    .filter((pool) => relationTo(pool, key) === 'own')
    .toSorted((a, b) => compareText(a.name, b.name));
}

/** Whether the rules about pools of one application matter to this pod: every ADD asks, so it must cost next to nothing. */
export function concernsAutoPools(pools: Pools, request: PoolRequest): boolean {
  const { controller } = request;
  return controller !== null && (subnetSource(request) !== null || poolsNamedAfter(pools, controller).length > 0);
}

const BY_APPLICATION = new WeakMap<Pools, ReadonlyMap<string, readonly Pool[]>>();

type Named = Pick<Controller, 'namespace' | 'name'>;

/** Pools of any application with this name, of whatever kind and uid. Grouped once per snapshot. */
function poolsNamedAfter(pools: Pools, application: Named): readonly Pool[] {
  const grouped = BY_APPLICATION.get(pools) ?? groupByApplication(pools);
  BY_APPLICATION.set(pools, grouped);
  return grouped.get(nameOf(application)) ?? [];
}

function groupByApplication(pools: Pools): ReadonlyMap<string, readonly Pool[]> {
  const named = [...pools.values()].flatMap((pool) => {
    const application = pool.auto === null ? null : affinityApplication(pool.podAffinity?.matchLabels ?? {});
    return application === null ? [] : [{ pool, name: nameOf(application) }];
  });
  const grouped = Map.groupBy(named, ({ name }) => name);
  return new Map([...grouped].map(([name, entries]) => [name, entries.map(({ pool }) => pool)]));
}

function nameOf({ namespace, name }: Named): string {
  return `${namespace}/${name}`;
}
