import { IpamError } from '#pkg/errors/ipam-error.ts';
import { askedPools } from './asked-pools.ts';
import { askedSubnets, type SubnetSource, subnetSource } from './asked-subnets.ts';
import { type CandidateSource, describeSource } from './candidate-source.ts';
import { disabledNote, searchDefaults, searchNames } from './family-search.ts';
import type { Pool } from './pool.ts';
import type { PoolRequest } from './request.ts';

const NO_DEFAULTS =
  'no pool has spec.default true, and neither the pod nor its namespace nor the CNI configuration names one';

export interface Candidate {
  readonly pool: Pool;
  /** Place in the list the user wrote, patterns expanded; from 0. */
  readonly listedAt: number;
}

export interface CandidateOptions {
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
  /** SpiderSubnet and its auto pools. */
  readonly enableSubnets: boolean;
}

interface Found {
  readonly source: CandidateSource;
  readonly cleanGateway: boolean;
  readonly warnings: readonly string[];
}

/** At least one list is not empty; an empty one means that no address of this family is wanted. */
export interface PoolCandidates extends Found {
  readonly kind: 'pools';
  readonly v4: readonly Candidate[];
  readonly v6: readonly Candidate[];
}

/** Pools made from subnets are asked for, and only the cluster knows which those are. At least one subnet is named. */
interface SubnetCandidates extends Found {
  readonly kind: 'subnets';
  readonly subnets: { readonly v4: string | null; readonly v6: string | null };
}

export type Candidates = PoolCandidates | SubnetCandidates;

/** The pools of the first source that exists: sources are never merged, and an unusable one is not replaced by a lower one. */
export function findCandidates(request: PoolRequest, known: readonly Pool[], options: CandidateOptions): Candidates {
  const subnets = subnetSource(request);
  if (subnets === null) return findPools(request, known, options, []);
  if (options.enableSubnets) return findSubnets(request, subnets, options);
  return findPools(request, known, options, [`${describeSource(subnets)} is ignored: SpiderSubnet is not enabled`]);
}

function findPools(
  request: PoolRequest,
  known: readonly Pool[],
  options: CandidateOptions,
  ignored: readonly string[],
): PoolCandidates {
  const asked = askedPools(request);
  const source = asked?.source ?? 'default-pools';
  const v4 = asked === null ? searchDefaults(4, known, options) : searchNames(asked.v4, 4, known, options);
  const v6 = asked === null ? searchDefaults(6, known, options) : searchNames(asked.v6, 6, known, options);
  const notes = [...v4.notes, ...v6.notes];
  const warnings = [...ignored, ...(asked?.warnings ?? []), ...notes];
  if (v4.candidates.length === 0 && v6.candidates.length === 0) throw nothingLeft(source, notes, warnings);
  const cleanGateway = asked?.cleanGateway ?? request.cniConfig.cleanGateway;
  return { kind: 'pools', source, v4: v4.candidates, v6: v6.candidates, cleanGateway, warnings };
}

function findSubnets(request: PoolRequest, source: SubnetSource, options: CandidateOptions): SubnetCandidates {
  const { value, warnings: read } = askedSubnets(request, source);
  const v4 = options.enableIPv4 ? value.v4 : null;
  const v6 = options.enableIPv6 ? value.v6 : null;
  const notes: string[] = [];
  if (v4 !== value.v4) notes.push(disabledNote(describeSource(source), 4));
  if (v6 !== value.v6) notes.push(disabledNote(describeSource(source), 6));
  const warnings = [...read, ...notes];
  if (v4 === null && v6 === null) throw nothingLeft(source, notes, warnings);
  return { kind: 'subnets', source, subnets: { v4, v6 }, cleanGateway: request.cniConfig.cleanGateway, warnings };
}

function nothingLeft(source: CandidateSource, notes: readonly string[], warnings: readonly string[]): IpamError {
  const why =
    notes.length > 0
      ? notes.join('; ')
      : `${describeSource(source)}: ${source === 'default-pools' ? NO_DEFAULTS : 'no pool is named'}`;
  return new IpamError('no-eligible-pool', `no pool to choose from: ${why}`, { details: warnings.join('\n') });
}
