import type { Family } from '#pkg/ip/address.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import { quote } from '#pkg/ip/quote.ts';
import { listSome } from '#pkg/text/text-list.ts';
import { autoPoolMismatch } from './auto-pool.ts';
import type { Candidate } from './candidates.ts';
import { formatSelector, type LabelSelector, selects } from './label-selector.ts';
import { comparePools } from './order.ts';
import type { Pool } from './pool.ts';
import type { Labels, PoolRequest } from './request.ts';

/** Why a pool may not serve a request; `text` completes the sentence "pool x: …". */
export interface Objection {
  readonly rule: string;
  readonly text: string;
}

export interface Objected {
  readonly pool: Pool;
  readonly objection: Objection;
}

/** What the rules need beside pool and request. */
export interface ObjectionFacts {
  /** The family wanted, that is the list the candidate was found in. */
  readonly family: Family;
  /** Reserved addresses of that family. */
  readonly reserved: IntervalSet;
  /** Why a pool must leave its addresses to an earlier one. */
  readonly overlaps: ReadonlyMap<string, string>;
  /** Where a `multusName` without a namespace lives. */
  readonly multusNamespace: string;
}

type Rule = (pool: Pool, request: PoolRequest, facts: ObjectionFacts) => string | null;

/** In the order of Spiderpool's filters; the first objection is the one shown. */
const RULES: readonly { readonly rule: string; readonly objectTo: Rule }[] = [
  { rule: 'terminating', objectTo: (pool) => (pool.isTerminating ? 'it is being deleted' : null) },
  { rule: 'disabled', objectTo: (pool) => (pool.isDisabled ? 'it is disabled' : null) },
  { rule: 'overlap', objectTo: (pool, _, { overlaps }) => overlaps.get(pool.name) ?? null },
  {
    rule: 'family',
    objectTo: (pool, _, { family }) => (pool.family === family ? null : `it is an IPv${pool.family} pool`),
  },
  { rule: 'node', objectTo: nodeMismatch },
  { rule: 'namespace', objectTo: namespaceMismatch },
  { rule: 'pod', objectTo: podMismatch },
  { rule: 'multus', objectTo: multusMismatch },
  { rule: 'master', objectTo: masterUnknown },
  { rule: 'addresses', objectTo: nothingToGive },
];

export function findObjection(pool: Pool, request: PoolRequest, facts: ObjectionFacts): Objection | null {
  for (const { rule, objectTo } of RULES) {
    const text = objectTo(pool, request, facts);
    if (text !== null) return { rule, text };
  }
  return null;
}

/** `eligible` is in the order in which the pools are to be tried. */
export function sortOut(
  candidates: readonly Candidate[],
  request: PoolRequest,
  facts: ObjectionFacts,
): { eligible: Candidate[]; objected: Objected[] } {
  const eligible: Candidate[] = [];
  const objected: Objected[] = [];
  for (const candidate of candidates) {
    const objection = findObjection(candidate.pool, request, facts);
    if (objection === null) eligible.push(candidate);
    else objected.push({ pool: candidate.pool, objection });
  }
  return { eligible: eligible.sort(comparePools), objected };
}

const MOST_LINES = 50;

/** One line for each pool, for the details of `no-eligible-pool`. */
export function explainObjections(objected: readonly Objected[]): string {
  const lines = objected.slice(0, MOST_LINES).map(({ pool, objection }) => `${pool.name}: ${objection.text}`);
  if (objected.length > MOST_LINES) lines.push(`… and ${objected.length - MOST_LINES} more pools`);
  return lines.join('\n');
}

function nodeMismatch(pool: Pool, { node }: PoolRequest): string | null {
  return pool.nodeNames.length > 0
    ? notAmong(`node ${node.name}`, node.name, 'nodeName', pool.nodeNames)
    : notSelected(`node ${node.name}`, node.labels, 'nodeAffinity', pool.nodeAffinity);
}

/** Used for pods and for claims, which both have a namespace. */
export function namespaceMismatch(pool: Pool, { namespace }: Pick<PoolRequest, 'namespace'>): string | null {
  return pool.namespaceNames.length > 0
    ? notAmong(`namespace ${namespace.name}`, namespace.name, 'namespaceName', pool.namespaceNames)
    : notSelected(`namespace ${namespace.name}`, namespace.labels, 'namespaceAffinity', pool.namespaceAffinity);
}

function podMismatch(pool: Pool, { pod, controller, controllerDoubt = null }: PoolRequest): string | null {
  return pool.auto !== null && pool.podAffinity !== null
    ? (autoPoolMismatch(pool.podAffinity.matchLabels, controller) ?? controllerDoubt)
    : notSelected('the pod', pod.labels, 'podAffinity', pool.podAffinity);
}

function multusMismatch(pool: Pool, request: PoolRequest, { multusNamespace }: ObjectionFacts): string | null {
  if (pool.multusNames.length === 0) return null;
  const names = pool.multusNames.map((name) => (name.includes('/') ? name : `${multusNamespace}/${name}`));
  if (request.multusName === null) {
    const because = request.multusUnknownBecause ? ` (${request.multusUnknownBecause})` : '';
    return `Multus network of ${request.interface} is unknown${because}, it must be one of multusName [${listSome(names, 10)}]`;
  }
  const network = `Multus network ${quote(request.multusName)} of ${request.interface}`;
  return notAmong(network, request.multusName, 'multusName', names);
}

/** As with Spiderpool a pool that names its networks, or its application, is not checked. The agent does not know what the check of the others would need. */
function masterUnknown(pool: Pool, { cniConfig }: PoolRequest): string | null {
  if (!cniConfig.matchMasterSubnet || pool.multusNames.length > 0 || pool.auto !== null) return null;
  return 'match_master_subnet is set, and which subnet the master interface has is not known here; give the pool a multusName instead';
}

function nothingToGive({ addresses }: Pool, _: PoolRequest, { reserved }: ObjectionFacts): string | null {
  if (addresses.isEmpty) return 'it has no address: ips is empty or all of it is excluded';
  return addresses.isSubsetOf(reserved) ? 'all its addresses are reserved' : null;
}

function notAmong(subject: string, name: string, field: string, names: readonly string[]): string | null {
  return names.includes(name) ? null : `${subject} is not in ${field} [${listSome(names, 10)}]`;
}

function notSelected(subject: string, labels: Labels, field: string, selector: LabelSelector | null): string | null {
  if (selector === null || selects(selector, labels)) return null;
  return `the labels of ${subject} do not match ${field} [${formatSelector(selector)}]`;
}
