import { type PoolRelation, relationTo } from '#pkg/autopool/identity.ts';
import { freePoolName } from '#pkg/autopool/pool-name.ts';
import type { Shortage } from '#pkg/autopool/shortage.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import { compareText } from '#pkg/pool/order.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { formatIpNumber } from '#pkg/pool/subnet-wish.ts';
import { toLabelValue } from '#pkg/record/record-metadata.ts';
import { Allotment } from './allotment.ts';
import { applicationOfPool } from './application-of-pool.ts';
import { partOverlaps } from './part-overlaps.ts';
import type { SubnetPool, SubnetSituation, Wanted } from './subnet-situation.ts';
import { takeBackStrays } from './take-back-strays.ts';

export type AutoPoolStep =
  | { readonly do: 'create'; readonly name: string; readonly wanted: Wanted; readonly addresses: IntervalSet }
  /** `addresses`: all that the pool has from now on. */
  | { readonly do: 'change'; readonly name: string; readonly wanted: Wanted; readonly addresses: IntervalSet }
  | DeleteStep;

/** Nothing of the pool is held, and its application does not want it any more. The application is read before it is done. */
interface DeleteStep {
  readonly do: 'delete';
  readonly name: string;
  readonly application: Controller;
}

export interface AutoPoolPlan {
  readonly steps: readonly AutoPoolStep[];
  /** The application that does not get what it wants. Its pool stays as it is. */
  readonly shortages: readonly (Shortage & { readonly wanted: Wanted })[];
  /** Pools that become smaller, or go, when addresses of them are given back. */
  readonly waiting: ReadonlySet<string>;
}

/** What is to be done so that every application has its pool. Carrying it out and planning again gives no step. */
export function planAutoPools(seen: SubnetSituation): AutoPoolPlan {
  const { situation: parted, contested } = partOverlaps(seen);
  const situation = takeBackStrays(parted);
  const allotment = new Allotment(situation);
  const sizes = new Map(seen.pools.map(({ pool }) => [pool.name, pool.addresses]));
  const steps: AutoPoolStep[] = [];
  const shortages: AutoPoolPlan['shortages'][number][] = [];
  const owned = new Set<string>();
  const isTaken = (name: string) => owned.has(name) || situation.isPoolName(name);
  // Grouped once: a subnet may have thousands of applications, and each of them looks for its pool.
  const byName = Map.groupBy(situation.pools, ({ pool }) => nameOf(applicationOfPool(pool)));
  for (const wanted of situation.wanted.toSorted(compareWanted)) {
    const own = findOwn(wanted, byName.get(nameOf(wanted.key.application)) ?? [], situation);
    if (own !== null) owned.add(own.pool.name);
    const { step, why } =
      own === null ? create(wanted, isTaken, allotment) : change(wanted, own, sizes.get(own.pool.name), allotment);
    if (why !== null) {
      const { application, interface: nic } = wanted.key;
      shortages.push({ application, interface: nic, why, wanted });
    }
    if (step !== null) {
      steps.push(step);
      owned.add(step.name);
    }
  }
  const unwanted = findUnwanted(owned, situation, sizes);
  const held = unwanted.filter(({ name }) => allotment.isHeld(name));
  return {
    steps: [...steps, ...unwanted.filter((it) => !held.includes(it))],
    shortages,
    waiting: new Set([...allotment.waiting, ...held.map(({ name }) => name), ...contested]),
  };
}

/** The pool of a re-created application is its own again if it was to stay, or if its pods are the new application's now. */
function findOwn(
  { key }: Wanted,
  pools: readonly SubnetPool[],
  { isHeldBy }: Pick<SubnetSituation, 'isHeldBy'>,
): SubnetPool | null {
  const related = pools
    .filter(({ pool }) => !pool.isTerminating)
    .map((it): [SubnetPool, PoolRelation] => [it, relationTo(it.pool, key)])
    .sort(([a], [b]) => compareText(a.pool.name, b.pool.name));
  const own = related.find(([, relation]) => relation === 'own');
  const earlier = related.find(
    ([{ pool }, relation]) =>
      relation === 'earlier' && (pool.auto?.reclaim === false || isHeldBy(pool.name, key.application.uid)),
  );
  return (own ?? earlier)?.[0] ?? null;
}

/** What is to be done for one application; `why` says why it does not get what it wants. */
interface Next {
  readonly step: AutoPoolStep | null;
  readonly why: string | null;
}

function create(wanted: Wanted, isTaken: (name: string) => boolean, allotment: Allotment): Next {
  const name = freePoolName(wanted.key, isTaken);
  if (name === null) return { step: null, why: 'other pools have the names that its pool can have' };
  const addresses = allotment.allot(wanted, null);
  if (typeof addresses === 'string') return { step: null, why: addresses };
  return { step: { do: 'create', name, wanted, addresses }, why: null };
}

/** A pool that cannot grow stays as it is; it still gives way to other pools, and takes back what its pods hold. */
function change(wanted: Wanted, own: SubnetPool, before: IntervalSet | undefined, allotment: Allotment): Next {
  const { name, auto } = own.pool;
  const isSame = (addresses: IntervalSet) => before !== undefined && addresses.equals(before);
  const allotted = allotment.allot(wanted, own);
  if (typeof allotted === 'string') {
    const { addresses } = own.pool;
    return { step: isSame(addresses) ? null : { do: 'change', name, wanted, addresses }, why: allotted };
  }
  const isMarked =
    auto?.applicationUid === wanted.key.application.uid &&
    auto.reclaim === wanted.reclaim &&
    own.number === formatIpNumber(wanted.number);
  const step: AutoPoolStep = { do: 'change', name, wanted, addresses: allotted };
  return { step: isMarked && isSame(allotted) ? null : step, why: null };
}

/**
 * A pool that is to stay keeps its addresses. Without any it would keep nothing, and tenants could leave as many of them behind as they
 * like: no limit of the subnet counts them.
 */
function findUnwanted(
  owned: ReadonlySet<string>,
  situation: SubnetSituation,
  sizes: ReadonlyMap<string, IntervalSet>,
): DeleteStep[] {
  const { subnet, pools, unclear } = situation;
  const isUnclear = (application: Omit<Controller, 'uid'>) => unclear.some((it) => isSameApplication(it, application));
  return pools
    .map(({ pool }) => pool)
    .filter(({ auto, isTerminating }) => auto?.subnet === toLabelValue(subnet.name) && !isTerminating)
    .filter(({ name, auto }) => auto?.reclaim === true || sizes.get(name)?.isEmpty === true)
    .filter(({ name }) => !owned.has(name))
    .toSorted((a, b) => compareText(a.name, b.name))
    .flatMap((pool): DeleteStep[] => {
      const application = applicationOfPool(pool);
      return application === null || isUnclear(application) ? [] : [{ do: 'delete', name: pool.name, application }];
    });
}

/** Empty for a pool of no application. */
function nameOf(application: Pick<Controller, 'namespace' | 'name'> | null): string {
  return application === null ? '' : `${application.namespace}/${application.name}`;
}

function isSameApplication(a: Omit<Controller, 'uid'>, b: Omit<Controller, 'uid'>): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}

/** The same order for every leader. */
function compareWanted(a: Wanted, b: Wanted): number {
  const textOf = ({ key: { application, interface: nic } }: Wanted) =>
    [application.namespace, application.name, application.kind, application.apiVersion, nic].join(' ');
  return compareText(textOf(a), textOf(b));
}
