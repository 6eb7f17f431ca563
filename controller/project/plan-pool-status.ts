import { isDeepStrictEqual } from 'node:util';
import { omitAbsent } from '#pkg/decode/untrusted.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import { formatAllocatedIps } from './allocated-ips.ts';
import { settleConditions } from './condition.ts';
import { asRead, type JsonCount, toJsonCount } from './json-count.ts';
import { POOL_CONDITIONS, poolConditions } from './pool-conditions.ts';
import type { PoolTally } from './pool-tally.ts';

/** `status` of a SpiderIPPool. It is written as a whole. */
export interface PoolStatus {
  readonly totalIPCount?: JsonCount;
  readonly allocatedIPCount: JsonCount;
  readonly freeIPCount?: JsonCount;
  readonly allocatedIPs?: string;
  readonly conditions: readonly unknown[];
}

/** The status that follows from the records, or null if `before` is equal to it. */
export function planPoolStatus(tally: PoolTally, before: unknown, now: Date): PoolStatus | null {
  const found = isMap(before) ? before : {};
  const { pool } = tally.facts;
  const status: PoolStatus = omitAbsent({
    totalIPCount: pool === null ? undefined : toJsonCount(pool.addresses.size),
    allocatedIPCount: toJsonCount(BigInt(tally.heldCount)),
    freeIPCount: pool === null ? undefined : toJsonCount(tally.available),
    allocatedIPs: formatAllocatedIps(tally.held ?? []),
    conditions: settleConditions(found['conditions'], poolConditions(tally), { ours: POOL_CONDITIONS, now }),
  });
  return isDeepStrictEqual(readBack(status), found) ? null : status;
}

/** The status as a later read returns it. */
function readBack(status: PoolStatus): object {
  const { totalIPCount, allocatedIPCount, freeIPCount } = status;
  return omitAbsent({
    ...status,
    totalIPCount: totalIPCount && asRead(totalIPCount),
    allocatedIPCount: asRead(allocatedIPCount),
    freeIPCount: freeIPCount && asRead(freeIPCount),
  });
}
