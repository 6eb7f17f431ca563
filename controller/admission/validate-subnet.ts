import { isPoolOfSubnet } from '#controller/project/plan-subnet-status.ts';
import { decodeSpiderSubnet, type SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { cidrsOverlap, formatCidr } from '#pkg/ip/cidr.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange } from '#pkg/ip/range.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { changesNothing, type Families, isBeingDeleted, judgeFamily, judgeFixed } from './judge-change.ts';
import type { NetworkWorld } from './network-world.ts';
import type { AdmissionRequest, ReviewFields } from './review.ts';
import { type AdmissionVerdict, ALLOWED, forbidden, forbiddenField, invalid } from './verdict.ts';

export interface SubnetValidation extends Families {
  readonly world: NetworkWorld;
  readonly enableValidatingResourcesDeletedWebhook: boolean;
}

/** Throws what a decoder refuses. */
export async function validateSubnet(request: AdmissionRequest, given: SubnetValidation): Promise<AdmissionVerdict> {
  const { object, oldObject } = request;
  if (request.operation === 'DELETE') return judgeDelete(oldObject, given);
  if (object === null) throw new Error('the object is missing');
  return oldObject === null ? judgeCreate(object, given) : judgeUpdate(oldObject, object, given);
}

async function judgeCreate(object: ReviewFields, given: SubnetValidation): Promise<AdmissionVerdict> {
  const subnet = decodeSpiderSubnet(object);
  return (
    judgeFamily(subnet.family, given) ??
    judgeOthers(subnet, await given.world.subnets()) ??
    judgePools(subnet, await given.world.pools()) ??
    ALLOWED
  );
}

async function judgeUpdate(
  before: ReviewFields,
  after: ReviewFields,
  given: SubnetValidation,
): Promise<AdmissionVerdict> {
  if (changesNothing(before, after)) return ALLOWED;
  if (isBeingDeleted(before)) return forbidden('cannot update a terminating Subnet');
  const fixed = judgeFixed(before, after);
  if (fixed !== null) return fixed;
  const subnet = decodeSpiderSubnet(after);
  const removed = tryDecode(before)?.addresses.subtract(subnet.addresses);
  return (
    judgeFamily(subnet.family, given) ??
    (removed?.isEmpty ? null : judgeRemoved(subnet, removed, await given.world.pools())) ??
    ALLOWED
  );
}

async function judgeDelete(object: ReviewFields | null, given: SubnetValidation): Promise<AdmissionVerdict> {
  if (object === null || !given.enableValidatingResourcesDeletedWebhook || isBeingDeleted(object)) return ALLOWED;
  const subnet = tryDecode(object);
  if (subnet === null) return ALLOWED;
  const count = poolsIn(subnet, await given.world.pools()).reduce((sum, { addresses }) => sum + addresses.size, 0n);
  return count === 0n ? ALLOWED : forbidden(`cannot delete a Subnet with allocated IPs(${count})`);
}

function judgeOthers(subnet: SpiderSubnet, others: readonly SpiderSubnet[]): AdmissionVerdict | null {
  const other = others.find(
    ({ name, domain, subnet: cidr }) =>
      name !== subnet.name && domain === subnet.domain && cidrsOverlap(cidr, subnet.subnet),
  );
  if (other === undefined) return null;
  return invalid('spec.subnet', `overlap with Subnet ${other.name} which 'spec.subnet' is ${formatCidr(other.subnet)}`);
}

function judgePools(subnet: SpiderSubnet, pools: readonly Pool[]): AdmissionVerdict | null {
  for (const pool of pools) {
    if (pool.domain !== subnet.domain || !cidrsOverlap(pool.subnet, subnet.subnet)) continue;
    if (!isPoolOfSubnet(subnet, pool)) {
      return invalid(
        'spec.subnet',
        `overlap with IPPool ${pool.name} which 'spec.subnet' is ${formatCidr(pool.subnet)}`,
      );
    }
    const [outside] = pool.addresses.subtract(subnet.addresses).intervals();
    if (outside === undefined) continue;
    const range = formatRange(pool.family, outside);
    return invalid('spec.ips', `IPPool ${pool.name} owns ${range}, which the Subnet would not control`);
  }
  return null;
}

function judgeRemoved(
  subnet: SpiderSubnet,
  removed: IntervalSet | undefined,
  pools: readonly Pool[],
): AdmissionVerdict | null {
  for (const pool of poolsIn(subnet, pools)) {
    const lost = pool.addresses.subtract(subnet.addresses);
    const [used] = (removed === undefined ? lost : lost.intersect(removed)).intervals();
    if (used === undefined) continue;
    const range = formatRange(pool.family, used);
    return forbiddenField('spec.ips', `remove some IP ranges [${range}] that is being used by IPPool ${pool.name}`);
  }
  return null;
}

function poolsIn(subnet: SpiderSubnet, pools: readonly Pool[]): Pool[] {
  return pools.filter((pool) => isPoolOfSubnet(subnet, pool));
}

function tryDecode(object: ReviewFields): SpiderSubnet | null {
  try {
    return decodeSpiderSubnet(object);
  } catch {
    return null;
  }
}
