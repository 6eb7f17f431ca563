import { countHeld } from '#controller/lifecycle/count-held.ts';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { findOverlap } from '#pkg/crd/pool-overlap.ts';
import { cidrsOverlap, formatCidr } from '#pkg/ip/cidr.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { isHeldState } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import { changesNothing, type Families, isBeingDeleted, judgeFamily, judgeFixed, metadataOf } from './judge-change.ts';
import type { NetworkWorld } from './network-world.ts';
import type { Reservations } from './reservations.ts';
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
export function validatePool(request: AdmissionRequest, given: PoolValidation): Promise<AdmissionVerdict> {
  const { object, oldObject } = request;
  if (request.operation === 'DELETE') return validateDelete(request, given);
  if (object === null) throw new Error('the object is missing');
  return given.reservations.alone(async () => {
    const verdict = oldObject === null ? await judgeCreate(object, given) : await judgeUpdate(oldObject, object, given);
    if (verdict.allowed && !request.isDryRun) reserve(object, oldObject, given.reservations);
    return verdict;
  });
}

async function judgeCreate(object: ReviewFields, given: PoolValidation): Promise<AdmissionVerdict> {
  const pool = decodePool(object);
  return (
    judgeFamily(pool.family, given) ??
    judgeOverlap(pool, await othersOf(given)) ??
    (await judgeOwner(object, pool, pool.addresses, given)) ??
    ALLOWED
  );
}

async function judgeUpdate(
  before: ReviewFields,
  after: ReviewFields,
  given: PoolValidation,
): Promise<AdmissionVerdict> {
  if (changesNothing(before, after)) return ALLOWED;
  if (isBeingDeleted(before)) return forbidden('cannot update a terminating IPPool');
  const fixed = judgeFixed(before, after);
  if (fixed !== null) return fixed;
  const pool = decodePool(after);
  const old = tryDecode(before);
  // What was there before is not judged again: a pool that is at fault must be open to repair.
  const added = old === null ? pool.addresses : pool.addresses.subtract(old.addresses);
  return (
    judgeFamily(pool.family, given) ??
    (added.isEmpty ? null : judgeOverlap({ ...pool, addresses: added }, await othersOf(given), 'addresses')) ??
    (await judgeUse(pool, old, given)) ??
    (await judgeOwner(after, pool, added, given)) ??
    ALLOWED
  );
}

async function validateDelete({ name, oldObject }: AdmissionRequest, given: PoolValidation): Promise<AdmissionVerdict> {
  const isGuarded = given.enableValidatingResourcesDeletedWebhook && !(oldObject !== null && isBeingDeleted(oldObject));
  // The request of a deletecollection has no name; the object has.
  const named = metadataOf(oldObject ?? {})['name'];
  const pool = name === '' && typeof named === 'string' ? named : name;
  const held = isGuarded ? await countHeld(given.ledger, pool) : 0;
  if (held > 0) return forbidden(`cannot delete an IPPool with allocated IPs(${held})`);
  given.reservations.drop(pool);
  return ALLOWED;
}

interface Others {
  readonly stored: readonly Pool[];
  readonly coming: readonly Pool[];
}

async function othersOf({ world, reservations }: PoolValidation): Promise<Others> {
  const stored = await world.pools();
  return { stored, coming: reservations.beyond(stored) };
}

/** Equal subnets are fine while their addresses differ; different ones must not cross, but where that has happened it is not asked again. */
function judgeOverlap(pool: Pool, { stored, coming }: Others, only?: 'addresses'): AdmissionVerdict | null {
  for (const other of [...stored, ...coming]) {
    const overlap = findOverlap(pool, [other]);
    if (overlap === null) continue;
    const hint = coming.includes(other) ? ', which is being created or changed right now' : '';
    const isCrossing = pool.subnet.first !== other.subnet.first || pool.subnet.prefix !== other.subnet.prefix;
    if (!isCrossing) {
      const totals = 'the addresses of a pool are spec.ips less spec.excludeIPs';
      return forbiddenField('spec.ips', `overlap with IPPool ${other.name}${hint}: ${overlap}; ${totals}`);
    }
    if (only === undefined) {
      const subnet = formatCidr(other.subnet);
      return invalid('spec.subnet', `overlap with IPPool ${other.name}${hint} which 'spec.subnet' is ${subnet}`);
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
  const holder = record === null ? 'somebody' : `${record.spec.holder.namespace}/${record.spec.holder.name}`;
  const address = formatRange(lost.family, { first: lost.value, last: lost.value });
  return forbiddenField('spec.ips', `remove an IP address ${address} that is being used by ${holder}`);
}

async function judgeOwner(
  object: ReviewFields,
  pool: Pool,
  added: IntervalSet,
  { enableSpiderSubnet, world }: PoolValidation,
): Promise<AdmissionVerdict | null> {
  const uid = enableSpiderSubnet ? owningSubnet(object) : null;
  if (uid === null) return null;
  const subnet = (await world.subnets()).find((candidate) => candidate.uid === uid);
  return subnet === undefined ? null : judgeInside(pool, added, subnet);
}

function judgeInside(pool: Pool, added: IntervalSet, subnet: SpiderSubnet): AdmissionVerdict | null {
  if (!cidrsOverlap(pool.subnet, subnet.subnet)) return null;
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

/** A pool that could not be read is in no list, so its repair counts as a new one. */
function reserve(object: ReviewFields, oldObject: ReviewFields | null, reservations: Reservations): void {
  const pool = tryDecode(object);
  const isChange = oldObject !== null && tryDecode(oldObject) !== null;
  if (pool !== null && !pool.isTerminating) reservations.hold(pool, { isChange });
}

function tryDecode(object: ReviewFields): Pool | null {
  try {
    return decodePool(object);
  } catch {
    return null;
  }
}
