import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { quote } from '#pkg/ip/quote.ts';
import { listSome } from '#pkg/text/text-list.ts';
import {
  askedPools,
  askedSubnets,
  type CandidateSource,
  describeSource,
  isPattern,
  type NameList,
  type SubnetSource,
  subnetSource,
} from './asked-pools.ts';
import { compareText } from './order.ts';
import { matchesAmong } from './pattern-matches.ts';
import type { Pool } from './pool.ts';
import type { Controller, PoolRequest } from './request.ts';

const NO_NAMES = ' is there, but names no pool: it needs at least one name in "ipv4" or "ipv6"';
const NO_DEFAULTS =
  ': no pool has spec.default true, and neither the pod nor its namespace nor the CNI configuration names one';

export interface Candidate {
  readonly pool: Pool;
  /** Place in the list the user wrote, patterns expanded; from 0. */
  readonly listedAt: number;
}

export interface CandidateOptions {
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
  /** Annotations that name a SpiderSubnet are read. */
  readonly enableSubnets: boolean;
  /** Pools are made for applications. */
  readonly enableAutoPools: boolean;
}

interface Found {
  readonly source: CandidateSource;
  readonly cleanGateway: boolean;
  readonly warnings: readonly string[];
}

/** At least one list is not empty; an empty one means that no address of this family is wanted. */
interface PoolCandidates extends Found {
  readonly kind: 'pools';
  readonly v4: readonly Candidate[];
  readonly v6: readonly Candidate[];
}

/** The pools that are made for this application are asked for. At least one subnet is named. */
export interface SubnetCandidates extends Found {
  readonly kind: 'subnets';
  readonly application: Controller;
  readonly subnets: { readonly v4: string | null; readonly v6: string | null };
}

export type Candidates = PoolCandidates | SubnetCandidates;

/**
 * The pools of the first source that exists: sources are never merged, and an unusable one is not replaced by a lower one.
 * Patterns are searched for once in each list of `known` pools, so a caller passes the same list while the pools are the same.
 */
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
  if (!options.enableAutoPools) throw new IpamError('no-eligible-pool', autoPoolsOff(source));
  const { value, application, warnings: read } = askedSubnets(request, source);
  const v4 = options.enableIPv4 ? value.v4 : null;
  const v6 = options.enableIPv6 ? value.v6 : null;
  const notes: string[] = [];
  if (v4 !== value.v4) notes.push(disabledNote(describeSource(source), 4));
  if (v6 !== value.v6) notes.push(disabledNote(describeSource(source), 6));
  const warnings = [...read, ...notes];
  if (v4 === null && v6 === null) throw nothingLeft(source, notes, warnings);
  const { cleanGateway } = request.cniConfig;
  return { kind: 'subnets', source, application, subnets: { v4, v6 }, cleanGateway, warnings };
}

/** As with Spiderpool such a pod is refused, and not served from another pool. */
function autoPoolsOff(source: SubnetSource): string {
  return `${describeSource(source)}: no pools are made for applications here (enableAutoPoolForApplication is false)`;
}

function nothingLeft(source: CandidateSource, notes: readonly string[], warnings: readonly string[]): IpamError {
  const why =
    notes.length > 0
      ? notes.join('; ')
      : `${describeSource(source)}${source === 'default-pools' ? NO_DEFAULTS : NO_NAMES}`;
  return new IpamError('no-eligible-pool', `no pool to choose from: ${why}`, { details: warnings.join('\n') });
}

/** The candidates of one family; `notes` say why there are fewer than were asked for. */
interface FamilySearch {
  readonly candidates: readonly Candidate[];
  readonly notes: readonly string[];
}

function searchNames(list: NameList, family: Family, known: readonly Pool[], options: CandidateOptions): FamilySearch {
  if (list.names.length === 0) return { candidates: [], notes: [] };
  if (!isEnabled(family, options)) return { candidates: [], notes: [disabledNote(list.from, family)] };
  const { candidates, unmatched } = expandNames(list, family, known);
  if (unmatched.length === 0) return { candidates, notes: [] };
  const patterns = listSome(unmatched.map(quote), 5);
  return { candidates, notes: [`${list.from}: no IPv${family} pool matches ${patterns}`] };
}

function searchDefaults(family: Family, known: readonly Pool[], options: CandidateOptions): FamilySearch {
  const pools = known.filter((pool) => pool.isDefault && pool.family === family);
  if (pools.length > 0 && !isEnabled(family, options)) {
    return { candidates: [], notes: [disabledNote(describeSource('default-pools'), family)] };
  }
  return { candidates: toCandidates(pools.sort((a, b) => compareText(a.name, b.name))), notes: [] };
}

function isEnabled(family: Family, options: CandidateOptions): boolean {
  return family === 4 ? options.enableIPv4 : options.enableIPv6;
}

function disabledNote(from: string, family: Family): string {
  return `${from}: IPv${family} is disabled, what is named for it is not used`;
}

interface Expanded {
  readonly candidates: readonly Candidate[];
  /** Patterns that no pool of the family matches. */
  readonly unmatched: readonly string[];
}

/** Each is held against the name of every pool, in the time of all other calls of the node. */
const MOST_PATTERNS = 10;

/**
 * A plain name may lead to a pool of the other family, which is objected to later; a pattern never does.
 * Spiderpool fails on any pool met twice; here only on a name written twice: a pool met again by a pattern keeps its first place.
 */
export function expandNames(list: NameList, family: Family, known: readonly Pool[]): Expanded {
  const plainNames = new Set<string>();
  const found: (readonly Pool[])[] = [];
  const unmatched: string[] = [];
  refuseTooMany(list, family);
  for (const name of list.names) {
    if (isPattern(name)) {
      const matched = matchPattern(name, list, family, known);
      if (matched.length === 0) unmatched.push(name);
      found.push(matched);
    } else {
      if (plainNames.has(name)) throw new IpamError(list.fault, `${list.from}: duplicate pool ${quote(name)}`);
      plainNames.add(name);
      found.push([known.find((pool) => pool.name === name) ?? refuse(name, list, family, known)]);
    }
  }
  // In one go, not pool by pool: ten patterns may match a thousand pools each.
  return { candidates: toCandidates([...new Set(found.flat())]), unmatched };
}

function toCandidates(pools: readonly Pool[]): Candidate[] {
  return pools.map((pool, listedAt) => ({ pool, listedAt }));
}

function refuseTooMany({ names, from, fault }: NameList, family: Family): void {
  const count = names.filter(isPattern).length;
  if (count <= MOST_PATTERNS) return;
  throw new IpamError(fault, `${from}: ${count} patterns for IPv${family}, at most ${MOST_PATTERNS} are allowed`);
}

function matchPattern(pattern: string, list: NameList, family: Family, known: readonly Pool[]): readonly Pool[] {
  try {
    return matchesAmong(known).matching(pattern, family);
  } catch (thrown) {
    throw new IpamError(list.fault, `${list.from}: ${toIpamError(thrown).message}`, { cause: thrown });
  }
}

function refuse(name: string, list: NameList, family: Family, known: readonly Pool[]): never {
  const existing = known.filter((pool) => pool.family === family).map((pool) => pool.name);
  const hint = existing.length === 0 ? 'none exist' : `there are ${listSome(existing.sort(compareText), 20)}`;
  throw new IpamError('unknown-pool', `${list.from}: no pool is named ${quote(name)}; of IPv${family} pools ${hint}`);
}
