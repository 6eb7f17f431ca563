import type { LeftRanges, RecordInSubnet, SubnetPool, SubnetSituation } from '#controller/allot/subnet-situation.ts';
import { isPoolOfSubnet } from '#controller/project/plan-subnet-status.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { decodeSubnetLimits, type SubnetLimits } from '#pkg/autopool/subnet-limits.ts';
import type { SpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import type { PoolRanges } from '#pkg/crd/pool-ranges.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Family } from '#pkg/ip/address.ts';
import { cidrsOverlap } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POD_ANNOTATIONS } from '#pkg/pool/annotation-keys.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { recordFamily } from '#pkg/record/ip-record.ts';
import { recordValue } from '#pkg/record/record-value.ts';
import type { AskingApplications } from './applications.ts';
import { readDropped } from './dropped-ranges.ts';
import type { PoolNow, PoolsNow } from './pools-now.ts';

export interface SubnetSources {
  readonly applications: AskingApplications;
  readonly pools: PoolsNow;
  readonly records: RecordsView;
  readonly reserved: (family: Family) => IntervalSet;
  readonly isHeldBy: SubnetSituation['isHeldBy'];
}

export interface ObservedSubnet {
  readonly situation: SubnetSituation;
  /** The pools of the situation, as they were when it was seen. */
  readonly seen: ReadonlyMap<string, PoolNow>;
  /** When the next range that a pool dropped, or that was of a deleted pool, can go to another one; null if there is none. */
  readonly nextFreeInMs: number | null;
}

/** Everything that decides about the auto pools of one subnet, from the caches. */
export function observeSubnet(
  subnet: SpiderSubnet,
  object: KubeObject,
  { applications, pools, records, reserved, isHeldBy }: SubnetSources,
  now: Date,
): ObservedSubnet {
  const own: SubnetPool[] = [];
  const seen = new Map<string, PoolNow>();
  const otherRanges: PoolRanges[] = [];
  const dropTimes: number[] = [];
  for (const poolNow of pools.all()) {
    const { object: poolObject, pool, ranges } = poolNow;
    if (!isNear(subnet, ranges)) continue;
    if (pool === null || !isPoolOfSubnet(subnet, pool)) {
      otherRanges.push(ranges);
      continue;
    }
    const dropped = readDropped(poolObject, now);
    if (dropped.forMs > 0) dropTimes.push(dropped.forMs);
    const number = poolObject.metadata.annotations?.[POD_ANNOTATIONS.ipNumber] ?? null;
    const createdAt = poolObject.metadata.creationTimestamp ?? '';
    own.push({ pool, createdAt, number, dropped: dropped.addresses });
    seen.set(pool.name, poolNow);
  }
  const gone: LeftRanges[] = [];
  for (const { pool, ranges, addresses, forMs } of pools.gone(now)) {
    if (!isNear(subnet, ranges)) continue;
    dropTimes.push(forMs);
    gone.push({ pool, dropped: addresses });
  }
  const situation: SubnetSituation = {
    subnet,
    limits: tryLimits(object),
    wanted: applications
      .of(subnet.name)
      .flatMap(({ wanted }) => wanted.filter(({ key }) => key.subnet === subnet.name)),
    unclear: applications.faulty(),
    pools: own,
    gone,
    otherRanges: IntervalSet.of(otherRanges.flatMap(({ addresses }) => addresses.intervals())),
    records: recordsIn(subnet, own, pools, records),
    reserved: reserved(subnet.family),
    isPoolName: (name) => pools.has(name),
    isHeldBy,
  };
  return { situation, seen, nextFreeInMs: dropTimes.length === 0 ? null : Math.min(...dropTimes) };
}

function isNear({ domain, subnet }: SpiderSubnet, ranges: PoolRanges | null): ranges is PoolRanges {
  return ranges !== null && ranges.domain === domain && cidrsOverlap(ranges.subnet, subnet);
}

/** The records of its pools, and those that a pool left behind which does not exist any more. */
function recordsIn(
  subnet: SpiderSubnet,
  own: readonly SubnetPool[],
  pools: PoolsNow,
  records: RecordsView,
): RecordInSubnet[] {
  const orphaned = [...records.poolNames()].filter((name) => !pools.has(name));
  return [...own.map(({ pool }) => pool.name), ...orphaned].flatMap((name) =>
    records
      .ofPool(name)
      .filter((record) => isIn(subnet, record))
      .map(toRecordInSubnet),
  );
}

function isIn({ family, domain, subnet }: SpiderSubnet, record: IpRecord): boolean {
  if (record.spec.domain !== domain || recordFamily(record) !== family) return false;
  const value = recordValue(record);
  return subnet.first <= value && value <= subnet.last;
}

function toRecordInSubnet(record: IpRecord): RecordInSubnet {
  return { value: recordValue(record), state: record.spec.state, pool: record.spec.pool.name };
}

function tryLimits({ metadata }: KubeObject): SubnetLimits | string {
  try {
    return decodeSubnetLimits(metadata.annotations ?? {});
  } catch (thrown) {
    return `the limits of the subnet cannot be read: ${toIpamError(thrown).message}`;
  }
}
