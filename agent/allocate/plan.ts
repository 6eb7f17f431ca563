import type { CatalogSnapshot } from '#agent/sources/pool-catalog.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type Address, type Family, formatAddress } from '#pkg/ip/address.ts';
import { cidrContains, formatCidr, parseAddressWithPrefix } from '#pkg/ip/cidr.ts';
import { describeSource } from '#pkg/pool/asked-pools.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import { type Candidate, type Candidates, findCandidates } from '#pkg/pool/candidates.ts';
import { explainObjections, type Objected, type ObjectionFacts, sortOut } from '#pkg/pool/objections.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';
import { describeHolder, type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';
import { autoPoolKey, ownPools } from './own-pools.ts';

export interface PlanOptions {
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
  readonly enableSubnets: boolean;
  readonly enableAutoPools: boolean;
  /** Where a `multusName` without a namespace belongs. */
  readonly multusNamespace: string;
}

export interface RequestedAddress {
  readonly pool: Pool;
  readonly value: bigint;
}

export interface FamilyPlan {
  readonly family: Family;
  /** In the order in which they are tried. */
  readonly pools: readonly Pool[];
  readonly objected: readonly Objected[];
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

/** Which pools will be tried for a call, family by family. Pure: throws the refusal the caller is told. */
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
  const requested = placeRequested(requestedIPs, families, snapshot);
  for (const plan of families) {
    const { family, pools, objected } = plan;
    if (pools.length > 0 || options.heldFamilies?.has(family) === true || isAwaited(plan)) continue;
    const which = objected.length === 1 ? 'the only candidate' : `all ${objected.length} candidates`;
    const message = `no pool may give ${request.interface} an IPv${family} address: ${which} from ${surveyed.source} cannot be used`;
    throw new IpamError('no-eligible-pool', message, { details: explainObjections(objected) });
  }
  return {
    ...surveyed,
    families: families.map((it) => ({ ...it, requested: requested.get(it.family) ?? null })),
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

const LISTS = new WeakMap<CatalogSnapshot, readonly Pool[]>();

/** The same list each time for the same snapshot. */
export function poolsOf(snapshot: CatalogSnapshot): readonly Pool[] {
  const list = LISTS.get(snapshot) ?? [...snapshot.pools.values()];
  LISTS.set(snapshot, list);
  return list;
}

/** Candidates with their objections and their order, without a verdict: also what `explain` shows. */
export function surveyPools(request: PoolRequest, snapshot: CatalogSnapshot, options: PlanOptions): Plan {
  const candidates = findCandidates(request, poolsOf(snapshot), options);
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
  { pools }: CatalogSnapshot,
): readonly Candidate[] {
  if (candidates.kind === 'pools') return family === 4 ? candidates.v4 : candidates.v6;
  return autoPool === null ? [] : ownPools(pools, autoPool).map((pool, listedAt) => ({ pool, listedAt }));
}

/** Finds the pool of each address that was asked for. An address that no candidate may give is refused, and said why. */
function placeRequested(
  texts: readonly string[],
  families: readonly FamilyPlan[],
  snapshot: CatalogSnapshot,
): Map<Family, RequestedAddress> {
  const placed = new Map<Family, RequestedAddress>();
  for (const text of texts) {
    const { address, prefix } = parseAddressWithPrefix(text);
    const before = placed.get(address.family);
    if (before !== undefined) {
      if (before.value === address.value) continue;
      throw refused(
        `two IPv${address.family} addresses are asked for, ${formatAddress({ ...address, value: before.value })} and ${formatAddress(address)}: one per interface is possible`,
      );
    }
    const pool = findPool(address, families);
    refuseReserved(address, snapshot);
    if (prefix !== null && prefix !== pool.subnet.prefix) {
      throw refused(`${text} is asked for, but pool ${pool.name} has prefix length /${pool.subnet.prefix}`);
    }
    placed.set(address.family, { pool, value: address.value });
  }
  return placed;
}

/** A repeated ADD that asks for another address than it holds is a contradiction, not a move. */
export function refuseOtherAddress(families: readonly FamilyPlan[], held: readonly IpRecord[]): void {
  for (const record of held) {
    const requested = families.find(({ family }) => family === recordFamily(record))?.requested;
    if (requested === undefined || requested === null) continue;
    const address = formatAddress({ family: requested.pool.family, value: requested.value });
    if (address === record.spec.address) continue;
    throw refused(`${address} is asked for, but this interface already holds ${record.spec.address}`);
  }
}

function findPool(address: Address, families: readonly FamilyPlan[]): Pool {
  const name = formatAddress(address);
  const plan = families.find((it) => it.family === address.family);
  if (plan === undefined)
    throw refused(`${name} is asked for, but no IPv${address.family} pool is a candidate for this call`);
  const pool = plan.pools.find((it) => it.addresses.contains(address.value));
  if (pool !== undefined) return pool;
  const barred = plan.objected.find((it) => it.pool.addresses.contains(address.value));
  if (barred !== undefined)
    throw refused(`${name} is asked for, but its pool ${barred.pool.name} may not be used: ${barred.objection.text}`);
  const candidates = [...plan.pools, ...plan.objected.map((it) => it.pool)];
  const near = candidates.find((it) => cidrContains(it.subnet, address));
  if (near !== undefined)
    throw refused(`${name} is in the subnet of pool ${near.name}, but not among the addresses it may give`);
  const where = candidates.map((it) => `${it.name} (${formatCidr(it.subnet)})`).join(', ');
  throw refused(`${name} is asked for, but it is outside every candidate pool: ${where || 'there is none yet'}`);
}

function refuseReserved(address: Address, snapshot: CatalogSnapshot): void {
  const by = snapshot.reservedIps.find(
    (it) => it.family === address.family && !it.isTerminating && it.addresses.contains(address.value),
  );
  if (by !== undefined)
    throw refused(`${formatAddress(address)} is asked for, but SpiderReservedIP ${by.name} reserves it`);
}

export function takenError(address: Address, holder: IpRecord | null): IpamError {
  const by = holder === null ? '' : ` by ${describeHolder(holder)}`;
  return refused(`${formatAddress(address)} is asked for, but it is taken${by}`);
}

function refused(message: string): IpamError {
  return new IpamError('address-refused', message);
}
