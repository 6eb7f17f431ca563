import { isPoolOfSubnet } from '#controller/project/plan-subnet-status.ts';
import { ALLOWED_NAMESPACES, decodeSubnetLimits, MOST_PER_NAMESPACE } from '#pkg/autopool/subnet-limits.ts';
import { decodeSpiderSubnet, type SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { PoolRanges } from '#pkg/crd/pool-ranges.ts';
import { cidrsOverlap, formatCidr } from '#pkg/ip/cidr.ts';
import { formatRange } from '#pkg/ip/range.ts';
import {
  changedAnnotations,
  changesNothing,
  type Families,
  isBeingDeleted,
  judgeFamily,
  judgeFixed,
} from './judge-change.ts';
import type { NetworkWorld } from './network-world.ts';
import type { Reservations } from './reservations.ts';
import type { AdmissionRequest, ReviewFields } from './review.ts';
import { type AdmissionVerdict, ALLOWED, forbidden, forbiddenField, invalid } from './verdict.ts';

export interface SubnetValidation extends Families {
  readonly world: NetworkWorld;
  readonly reservations: Reservations;
  readonly enableValidatingResourcesDeletedWebhook: boolean;
}

/** Throws what a decoder refuses. */
export async function validateSubnet(request: AdmissionRequest, given: SubnetValidation): Promise<AdmissionVerdict> {
  const { object, oldObject } = request;
  if (request.operation === 'DELETE') return judgeDelete(oldObject, given);
  if (object === null) throw new Error('the object is missing');
  decodeSubnetLimits(changedAnnotations(oldObject ?? {}, object, [ALLOWED_NAMESPACES, MOST_PER_NAMESPACE]));
  const early = oldObject === null ? null : judgeMetadata(oldObject, object);
  if (early !== null) return early;
  const subnet = decodeSpiderSubnet(object);
  const family = judgeFamily(subnet.family, given);
  if (family !== null) return family;
  return given.reservations.decide({
    look: async () => ({ pools: await given.world.pools(), subnets: await given.world.subnets() }),
    judge: async ({ pools, subnets }) =>
      oldObject === null
        ? (judgeOthers(subnet, subnets) ?? judgePools(subnet, pools))
        : judgeRemoved(subnet, tryDecode(oldObject), pools),
    admit: () => {
      if (request.isDryRun || subnet.isTerminating) return;
      given.reservations.subnets.hold(subnet, { isChange: oldObject !== null && tryDecode(oldObject) !== null });
    },
  });
}

function judgeMetadata(before: ReviewFields, after: ReviewFields): AdmissionVerdict | null {
  if (changesNothing(before, after)) return ALLOWED;
  if (isBeingDeleted(before)) return forbidden('cannot update a terminating Subnet');
  return judgeFixed(before, after);
}

async function judgeDelete(object: ReviewFields | null, given: SubnetValidation): Promise<AdmissionVerdict> {
  const subnet = object === null ? null : tryDecode(object);
  if (subnet === null) return ALLOWED;
  const isGuarded = given.enableValidatingResourcesDeletedWebhook && !subnet.isTerminating;
  const pools = isGuarded ? poolsIn(subnet, await given.world.pools()) : [];
  const count = pools.reduce((sum, { addresses }) => sum + addresses.size, 0n);
  if (count > 0n) return forbidden(`cannot delete a Subnet with allocated IPs(${count})`);
  given.reservations.subnets.drop(subnet.uid);
  return ALLOWED;
}

function judgeOthers(subnet: SpiderSubnet, others: readonly SpiderSubnet[]): AdmissionVerdict | null {
  const other = others.find(
    ({ name, domain, subnet: cidr }) =>
      name !== subnet.name && domain === subnet.domain && cidrsOverlap(cidr, subnet.subnet),
  );
  if (other === undefined) return null;
  return invalid('spec.subnet', `overlap with Subnet ${other.name} which 'spec.subnet' is ${formatCidr(other.subnet)}`);
}

function judgePools(subnet: SpiderSubnet, pools: readonly PoolRanges[]): AdmissionVerdict | null {
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

/** Addresses that an update takes away must belong to no pool, unless they were away before. */
function judgeRemoved(
  subnet: SpiderSubnet,
  old: SpiderSubnet | null,
  pools: readonly PoolRanges[],
): AdmissionVerdict | null {
  const removed = old?.addresses.subtract(subnet.addresses);
  for (const pool of poolsIn(subnet, pools)) {
    const lost = pool.addresses.subtract(subnet.addresses);
    const [used] = (removed === undefined ? lost : lost.intersect(removed)).intervals();
    if (used === undefined) continue;
    const range = formatRange(pool.family, used);
    return forbiddenField('spec.ips', `remove some IP ranges [${range}] that is being used by IPPool ${pool.name}`);
  }
  return null;
}

function poolsIn(subnet: SpiderSubnet, pools: readonly PoolRanges[]): PoolRanges[] {
  return pools.filter((pool) => isPoolOfSubnet(subnet, pool));
}

function tryDecode(object: ReviewFields): SpiderSubnet | null {
  try {
    return decodeSpiderSubnet(object);
  } catch {
    return null;
  }
}
