import { countHeld } from '#controller/lifecycle/count-held.ts';
import { isPoolOfSubnet } from '#controller/project/plan-subnet-status.ts';
import { decodePool, decodePoolAnnotations, POOL_ANNOTATIONS } from '#pkg/crd/decode-pool.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { findOverlap } from '#pkg/crd/pool-overlap.ts';
import type { PoolRanges } from '#pkg/crd/pool-ranges.ts';
import { cidrsOverlap, formatCidr } from '#pkg/ip/cidr.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { isHeldState } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import {
  changedAnnotations,
  changesNothing,
  type Families,
  isBeingDeleted,
  judgeFamily,
  judgeFixed,
  metadataOf,
} from './judge-change.ts';
import type { NetworkWorld } from './network-world.ts';
import { type Judgement, type Neighbours, type Reservations, withoutNeighbours } from './reservations.ts';
import type { AdmissionRequest, ReviewFields } from './review.ts';
import { type AdmissionVerdict, ALLOWED, forbidden, forbiddenField, invalid } from './verdict.ts';

export interface PoolValidation extends Families {
  readonly world: NetworkWorld;
  readonly ledger: Pick<Ledger, 'takenOf' | 'get'>;
  readonly reservations: Reservations;
  readonly enableSpiderSubnet: boolean;
  readonly enableValidatingResourcesDeletedWebhook: boolean;
}

/** Throws what a decoder refuses. */
export async function validatePool(request: AdmissionRequest, given: PoolValidation): Promise<AdmissionVerdict> {
  const { object, oldObject } = request;
  if (request.operation === 'DELETE') return validateDelete(request, given);
  if (object === null) throw new Error('the object is missing');
  const early = oldObject === null ? null : judgeMetadata(oldObject, object);
  if (early !== null) return early;
  const pool = decodePool(object);
  const family = judgeFamily(pool.family, given);
  if (family !== null) return family;
  return given.reservations.decide({
    ...(oldObject === null ? creation(pool, given) : change(pool, oldObject, object, given)),
    admit: () => {
      if (!request.isDryRun && !pool.isTerminating)
        given.reservations.pools.hold(pool, { isChange: oldObject !== null });
    },
  });
}

/** What an update changes beside the spec, and what it may never change. Null: the rest has to be judged. */
function judgeMetadata(before: ReviewFields, after: ReviewFields): AdmissionVerdict | null {
  if (!isBeingDeleted(before)) {
    const fixed = judgeFixed(before, after);
    if (fixed !== null) return fixed;
    decodePoolAnnotations(changedAnnotations(before, after, POOL_ANNOTATIONS));
  }
  if (changesNothing(before, after)) return ALLOWED;
  return isBeingDeleted(before) ? forbidden('cannot update a terminating IPPool') : null;
}

function creation(pool: Pool, given: PoolValidation): Omit<Judgement, 'admit'> {
  return {
    look: () => lookAround(given),
    judge: async ({ pools, subnets }) =>
      judgeOverlap(pool, pools) ??
      firstOf(subnets, (subnet) => judgeCrossing(pool, subnet) ?? judgeInside(pool, pool.addresses, subnet)),
  };
}

function change(
  pool: Pool,
  before: ReviewFields,
  after: ReviewFields,
  given: PoolValidation,
): Omit<Judgement, 'admit'> {
  const old = tryDecode(before);
  // What was there before is not judged again: a pool that is at fault must be open to repair.
  const added = old === null ? pool.addresses : pool.addresses.subtract(old.addresses);
  const owner = owningSubnet(after);
  return {
    look: added.isEmpty ? withoutNeighbours : () => lookAround(given),
    judge: async ({ pools, subnets }) =>
      judgeOverlap({ ...pool, addresses: added }, pools, 'addresses') ??
      (await judgeUse(pool, old, given)) ??
      firstOf(subnets, (subnet) => judgeInside(pool, added, subnet, owner)),
  };
}

async function lookAround({ world, enableSpiderSubnet }: PoolValidation): Promise<Neighbours> {
  return { pools: await world.pools(), subnets: enableSpiderSubnet ? await world.subnets() : [] };
}

async function validateDelete({ name, oldObject }: AdmissionRequest, given: PoolValidation): Promise<AdmissionVerdict> {
  const isGuarded = given.enableValidatingResourcesDeletedWebhook && !(oldObject !== null && isBeingDeleted(oldObject));
  // The request of a deletecollection has no name; the object has.
  const named = metadataOf(oldObject ?? {})['name'];
  const pool = name === '' && typeof named === 'string' ? named : name;
  const held = isGuarded ? await countHeld(given.ledger, pool) : 0;
  if (held > 0) return forbidden(`cannot delete an IPPool with allocated IPs(${held})`);
  const { uid } = metadataOf(oldObject ?? {});
  if (typeof uid === 'string') given.reservations.pools.drop(uid);
  return ALLOWED;
}

/** Equal subnets are fine while their addresses differ; different ones must not cross, but where that has happened it is not asked again. */
function judgeOverlap(pool: Pool, others: readonly PoolRanges[], only?: 'addresses'): AdmissionVerdict | null {
  for (const other of others) {
    const overlap = findOverlap(pool, [other]);
    if (overlap === null) continue;
    const isCrossing = pool.subnet.first !== other.subnet.first || pool.subnet.prefix !== other.subnet.prefix;
    if (!isCrossing) {
      const totals = 'the addresses of a pool are spec.ips less spec.excludeIPs';
      return forbiddenField('spec.ips', `overlap with IPPool ${other.name}: ${overlap}; ${totals}`);
    }
    if (only === undefined) {
      const subnet = formatCidr(other.subnet);
      return invalid('spec.subnet', `overlap with IPPool ${other.name} which 'spec.subnet' is ${subnet}`);
    }
  }
  return null;
}

/** Every address that is held must stay in the pool, unless it was outside before. By the records, not by the status. */
async function judgeUse(pool: Pool, old: Pool | null, { ledger }: PoolValidation): Promise<AdmissionVerdict | null> {
  const removed = old === null ? null : old.addresses.subtract(pool.addresses);
  if (removed?.isEmpty) return null;
  const taken = await ledger.takenOf(pool.name);
  const lost = taken
    .filter(({ value, state }) => isHeldState(state) && !pool.addresses.contains(value))
    .find(({ value }) => removed === null || removed.contains(value));
  if (lost === undefined) return null;
  const record = await ledger.get(recordName(lost, lost.domain));
  const holder =
    record === null ? 'a holder that cannot be read' : `${record.spec.holder.namespace}/${record.spec.holder.name}`;
  const address = formatRange(lost.family, { first: lost.value, last: lost.value });
  return forbiddenField('spec.ips', `remove an IP address ${address} that is being used by ${holder}`);
}

/** As a subnet is refused that crosses a pool of another network. */
function judgeCrossing(pool: Pool, subnet: SpiderSubnet): AdmissionVerdict | null {
  if (subnet.isTerminating || subnet.domain !== pool.domain || !cidrsOverlap(pool.subnet, subnet.subnet)) return null;
  if (isPoolOfSubnet(subnet, pool)) return null;
  return invalid(
    'spec.subnet',
    `overlap with Subnet ${subnet.name} which 'spec.subnet' is ${formatCidr(subnet.subnet)}`,
  );
}

function judgeInside(
  pool: Pool,
  added: IntervalSet,
  subnet: SpiderSubnet,
  owner: string | null = null,
): AdmissionVerdict | null {
  const isOwner = subnet.uid === owner && cidrsOverlap(pool.subnet, subnet.subnet);
  if (!isOwner && (subnet.isTerminating || !isPoolOfSubnet(subnet, pool))) return null;
  const [outside] = added.subtract(subnet.addresses).intervals();
  if (outside === undefined) return null;
  const range = formatRange(pool.family, outside);
  return forbiddenField(
    'spec.ips',
    `add some IP ranges [${range}] that are not contained in controller Subnet ${subnet.name}`,
  );
}

function owningSubnet(object: ReviewFields): string | null {
  const { ownerReferences } = metadataOf(object);
  const owners: unknown[] = Array.isArray(ownerReferences) ? ownerReferences : [];
  const owner = owners.find((one) => isMap(one) && one['controller'] === true && one['kind'] === 'SpiderSubnet');
  return isMap(owner) && typeof owner['uid'] === 'string' ? owner['uid'] : null;
}

function firstOf<T>(items: readonly T[], judge: (item: T) => AdmissionVerdict | null): AdmissionVerdict | null {
  for (const item of items) {
    const verdict = judge(item);
    if (verdict !== null) return verdict;
  }
  return null;
}

function tryDecode(object: ReviewFields): Pool | null {
  try {
    return decodePool(object);
  } catch {
    return null;
  }
}
