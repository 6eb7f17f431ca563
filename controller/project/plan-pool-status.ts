import { isDeepStrictEqual } from 'node:util';
import { omitAbsent } from '#pkg/decode/untrusted.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { isHeld } from '#pkg/record/record-value.ts';
import { formatAllocatedIps } from './allocated-ips.ts';
import { settleConditions } from './condition.ts';
import { asRead, type JsonCount, toJsonCount } from './json-count.ts';
import { POOL_CONDITIONS, type PoolFacts, poolConditions } from './pool-conditions.ts';

/** `status` of a SpiderIPPool. It is written as a whole. */
export interface PoolStatus {
  readonly totalIPCount?: JsonCount;
  readonly allocatedIPCount: JsonCount;
  readonly allocatedIPs?: string;
  readonly conditions: readonly unknown[];
}

/** The status that follows from the records, or null if `before` is equal to it. */
export function planPoolStatus(
  facts: PoolFacts,
  records: readonly IpRecord[],
  before: unknown,
  now: Date,
): PoolStatus | null {
  const found = isMap(before) ? before : {};
  const held = records.filter(isHeld);
  const status: PoolStatus = omitAbsent({
    totalIPCount: facts.pool === null ? undefined : toJsonCount(facts.pool.addresses.size),
    allocatedIPCount: toJsonCount(BigInt(held.length)),
    allocatedIPs: formatAllocatedIps(held),
    conditions: settleConditions(found['conditions'], poolConditions(facts, records), { ours: POOL_CONDITIONS, now }),
  });
  return isDeepStrictEqual(readBack(status), found) ? null : status;
}

/** The status as a later read returns it. */
function readBack(status: PoolStatus): object {
  const { totalIPCount, allocatedIPCount } = status;
  return {
    ...status,
    ...(totalIPCount === undefined ? {} : { totalIPCount: asRead(totalIPCount) }),
    allocatedIPCount: asRead(allocatedIPCount),
  };
}
