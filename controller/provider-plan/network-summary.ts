import { isDeepStrictEqual } from 'node:util';
import { isMap } from '#pkg/kube/objects/kube-object.ts';

/** What the records say of the pool of a NetworkNamespace. */
export interface NetworkTally {
  /** The addresses that IPAllocations hold, in ascending order, each with the NetworkConfiguration that it is for. */
  readonly held: readonly { readonly ip: string; readonly networkConfiguration: string }[];
  /** How many addresses could be given out now. */
  readonly available: bigint;
}

export interface NetworkBlock {
  /** `spec.ipAllocation.provider`, as it is written. */
  readonly provider: string;
  /** The subnet, with its host bits zero. */
  readonly prefix: string;
  /** Null: the static block names none. */
  readonly vlanId: number | null;
  /** What `spec.networkProvisioning.manual` says itself: its operator writes these two. */
  readonly isPrefixManual: boolean;
  readonly isVlanManual: boolean;
}

/** Which field holds the counts: that of v1alpha1 where only that version is served. */
export type SummaryField = 'ipAllocationSummary' | 'ipAllocationStatus';

/** int32 in Vitistack's types. */
const MOST = 2n ** 31n - 1n;
/** An object is not made larger than the API server accepts. */
const MOST_LISTED = 5_000;

/**
 * The part of a NetworkNamespace's status that is ours, or null if it is there. The total is what allocations have and can have, so
 * that it is always the sum of the other two: gateway, reserved addresses and those of other holders are in none of them.
 */
export function planSummary(
  tally: NetworkTally,
  block: NetworkBlock,
  before: Readonly<Record<string, unknown>>,
  field: SummaryField,
): Readonly<Record<string, unknown>> | null {
  const allocated = BigInt(tally.held.length);
  const counts = {
    type: 'static',
    provider: block.provider,
    allocatedCount: toInt32(allocated),
    availableCount: toInt32(tally.available),
    totalCount: toInt32(allocated + tally.available),
    ...(field === 'ipAllocationStatus' ? { allocatedIPs: tally.held.slice(0, MOST_LISTED) } : {}),
  };
  const network = {
    ...(isLeftAlone(before['ipv4Prefix'], block.isPrefixManual) ? {} : { ipv4Prefix: block.prefix }),
    ...(block.vlanId === null || isLeftAlone(before['vlanId'], block.isVlanManual) ? {} : { vlanId: block.vlanId }),
  };
  const isThere =
    isEqualSummary(before[field], counts) &&
    Object.entries(network).every(([name, value]) => (before[name] ?? 0) === value);
  return isThere ? null : { [field]: counts, ...network };
}

/** A writer of its own has filled it. */
function isLeftAlone(found: unknown, isManual: boolean): boolean {
  return isManual && found !== undefined && found !== '' && found !== 0;
}

/** Vitistack's own programs leave out a count of zero, and an empty list. */
function isEqualSummary(found: unknown, counts: Readonly<Record<string, unknown>>): boolean {
  if (!isMap(found)) return false;
  return Object.entries(counts).every(([name, value]) => {
    const absent = typeof value === 'number' ? 0 : [];
    return isDeepStrictEqual(found[name] ?? absent, value);
  });
}

function toInt32(count: bigint): number {
  return Number(count > MOST ? MOST : count);
}
