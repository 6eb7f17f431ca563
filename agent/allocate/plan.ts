import { applicationName, type CatalogSnapshot } from '#agent/sources/pool-catalog.ts';
import { relationTo } from '#pkg/autopool/identity.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { describeSource, subnetSource } from '#pkg/pool/asked-pools.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import { type Candidate, type Candidates, findCandidates, type SubnetCandidates } from '#pkg/pool/candidates.ts';
import { explainObjections, type ObjectionFacts, sortOut } from '#pkg/pool/objections.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { type FamilyPools, placeRequested, type RequestedAddress } from './requested-address.ts';

export interface PlanOptions {
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
  readonly enableSubnets: boolean;
  readonly enableAutoPools: boolean;
  /** Where a `multusName` without a namespace belongs. */
  readonly multusNamespace: string;
}

export interface FamilyPlan extends FamilyPools {
  readonly requested: RequestedAddress | null;
  /** The pool that the controller makes for the application; null where pools are named. */
  readonly autoPool: AutoPoolKey | null;
}

/** What is objected to in the pool of an application while the controller is still at work on it. */
const PASSING = ['terminating', 'overlap', 'addresses'];

/** The pool of the application is not there yet, or cannot be used yet: it is worth waiting for. */
export function isAwaited({ autoPool, pools, objected }: FamilyPlan): boolean {
  return autoPool !== null && pools.length === 0 && objected.every(({ objection }) => PASSING.includes(objection.rule));
}

/** Whether the rules about pools of one application matter to this pod: every ADD asks, so it must cost next to nothing. */
export function concernsAutoPools({ ofApplications }: CatalogSnapshot, request: PoolRequest): boolean {
  const { controller } = request;
  return controller !== null && (subnetSource(request) !== null || ofApplications.has(applicationName(controller)));
}

/** What a call still has to take. */
export interface MissingPlan {
  readonly families: readonly FamilyPlan[];
  readonly cleanGateway: boolean;
  /** Until when the call waits for a free address; null: as long as the agent's setting says. */
  readonly waitUntilMs: number | null;
  /** The families as the pools are now, for a call that has waited. The same object while the pools are the same. */
  readonly again: () => readonly FamilyPlan[];
}

export interface Plan {
  readonly source: string;
  readonly families: readonly FamilyPlan[];
  readonly cleanGateway: boolean;
  readonly warnings: readonly string[];
}

/** Which pools will be tried for a call, family by family. Pure. Throws the error of the call if no pool may serve it. */
export function planAllocation(
  request: PoolRequest,
  requestedIPs: readonly string[],
  snapshot: CatalogSnapshot,
  /** A family that is held already needs no pool any more. */
  options: PlanOptions & { readonly heldFamilies?: ReadonlySet<Family> },
): Plan {
  const surveyed = surveyPools(request, snapshot, options);
  const families = surveyed.families.filter(
    (it) => it.pools.length > 0 || it.objected.length > 0 || it.autoPool !== null,
  );
  const requested = requestedIPs.length === 0 ? null : placeRequested(requestedIPs, families, snapshot);
  for (const plan of families) {
    const { family, pools, objected } = plan;
    if (pools.length > 0 || options.heldFamilies?.has(family) === true || isAwaited(plan)) continue;
    const which = objected.length === 1 ? 'the only candidate' : `all ${objected.length} candidates`;
    const message = `no pool may give ${request.interface} an IPv${family} address: ${which} from ${surveyed.source} cannot be used`;
    throw new IpamError('no-eligible-pool', message, { details: explainObjections(objected) });
  }
  return {
    ...surveyed,
    families: families.map((it) => ({ ...it, requested: requested?.get(it.family) ?? null })),
  };
}

/** Null for a request that cannot be planned at all: it judges nothing that is held already. */
export function trySurvey(request: PoolRequest, snapshot: CatalogSnapshot, options: PlanOptions): Plan | null {
  try {
    return surveyPools(request, snapshot, options);
  } catch (thrown) {
    if (thrown instanceof IpamError) return null;
    throw thrown;
  }
}

export function isCandidate({ families }: Plan, { spec }: IpRecord): boolean {
  return families.some(({ pools, objected }) =>
    [...pools, ...objected.map(({ pool }) => pool)].some((pool) => pool.name === spec.pool.name),
  );
}

/** Candidates with their objections and their order, without a verdict: also what `explain` shows. */
export function surveyPools(request: PoolRequest, snapshot: CatalogSnapshot, options: PlanOptions): Plan {
  const candidates = findCandidates(request, snapshot.list, options);
  return {
    source: describeSource(candidates.source),
    families: [
      familyPlan(4, candidates, request, snapshot, options),
      familyPlan(6, candidates, request, snapshot, options),
    ],
    cleanGateway: candidates.cleanGateway,
    warnings: candidates.warnings,
  };
}

function familyPlan(
  family: Family,
  candidates: Candidates,
  request: PoolRequest,
  snapshot: CatalogSnapshot,
  options: PlanOptions,
): FamilyPlan {
  const autoPool = candidates.kind === 'subnets' ? autoPoolKey(candidates, family, request.interface) : null;
  const { reserved, overlaps } = snapshot;
  const { multusNamespace } = options;
  const facts: ObjectionFacts = { family, reserved: reserved[family], overlaps, multusNamespace };
  const { eligible, objected } = sortOut(listed(family, candidates, autoPool, snapshot), request, facts);
  return { family, pools: eligible.map(({ pool }) => pool), objected, requested: null, autoPool };
}

function listed(
  family: Family,
  candidates: Candidates,
  autoPool: AutoPoolKey | null,
  snapshot: CatalogSnapshot,
): readonly Candidate[] {
  if (candidates.kind === 'pools') return family === 4 ? candidates.v4 : candidates.v6;
  return autoPool === null ? [] : ownPools(snapshot, autoPool).map((pool, listedAt) => ({ pool, listedAt }));
}

/** Which pool a pod wants that names a subnet; null: it names none of this family. */
function autoPoolKey({ subnets, application }: SubnetCandidates, family: Family, nic: string): AutoPoolKey | null {
  const subnet = family === 4 ? subnets.v4 : subnets.v6;
  return subnet === null ? null : { subnet, application, interface: nic, family };
}

/** Normally one, or none while the controller has not made it. A second one may have been made by hand. */
function ownPools({ ofApplications }: CatalogSnapshot, key: AutoPoolKey): Pool[] {
  const named = ofApplications.get(applicationName(key.application)) ?? [];
  return named.filter((pool) => relationTo(pool, key) === 'own');
}

/** A call may ask many times while it waits, and the pools seldom change. */
export function oncePer<K, V>(firstKey: K, firstValue: V, compute: (key: K) => V): (key: K) => V {
  let [known, value] = [firstKey, firstValue];
  return (key) => {
    if (key !== known) [known, value] = [key, compute(key)];
    return value;
  };
}
