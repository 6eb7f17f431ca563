import type { CatalogSnapshot } from '#agent/sources/pool-catalog.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { describeSource } from '#pkg/pool/asked-pools.ts';
import { type Candidate, findCandidates, type PoolCandidates } from '#pkg/pool/candidates.ts';
import { explainObjections, type Objected, type ObjectionFacts, sortOut } from '#pkg/pool/objections.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { placeRequested, type RequestedAddress } from './requested.ts';

export interface PlanOptions {
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
  readonly enableSubnets: boolean;
  /** Where a `multusName` without a namespace belongs. */
  readonly multusNamespace: string;
}

export interface FamilyPlan {
  readonly family: Family;
  /** In the order in which they are tried. */
  readonly pools: readonly Pool[];
  readonly objected: readonly Objected[];
  readonly requested: RequestedAddress | null;
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
  const families = surveyed.families.filter((it) => it.pools.length > 0 || it.objected.length > 0);
  const requested = placeRequested(requestedIPs, families, snapshot);
  for (const { family, pools, objected } of families) {
    if (pools.length > 0 || options.heldFamilies?.has(family) === true) continue;
    const message = `no pool may give ${request.interface} an IPv${family} address: all ${objected.length} candidates from ${surveyed.source} are objected to`;
    throw new IpamError('no-eligible-pool', message, { details: explainObjections(objected) });
  }
  return {
    ...surveyed,
    families: families.map((it) => ({ ...it, requested: requested.get(it.family) ?? null })),
  };
}

export function isCandidate({ families }: Plan, { spec }: IpRecord): boolean {
  return families.some(({ pools, objected }) =>
    [...pools, ...objected.map(({ pool }) => pool)].some((pool) => pool.name === spec.pool.name),
  );
}

/** Candidates with their objections and their order, without a verdict: also what `explain` shows. */
export function surveyPools(request: PoolRequest, snapshot: CatalogSnapshot, options: PlanOptions): Plan {
  const candidates = findCandidates(request, [...snapshot.pools.values()], options);
  if (candidates.kind === 'subnets') {
    throw new IpamError(
      'no-eligible-pool',
      `${describeSource(candidates.source)} asks for a pool made from a subnet; this version serves only pools that somebody made`,
    );
  }
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
  candidates: PoolCandidates,
  request: PoolRequest,
  snapshot: CatalogSnapshot,
  options: PlanOptions,
): FamilyPlan {
  const listed: readonly Candidate[] = family === 4 ? candidates.v4 : candidates.v6;
  const { reserved, overlaps } = snapshot;
  const { multusNamespace } = options;
  const facts: ObjectionFacts = { family, reserved: reserved[family], overlaps, multusNamespace };
  const { eligible, objected } = sortOut(listed, request, facts);
  return { family, pools: eligible.map(({ pool }) => pool), objected, requested: null };
}
