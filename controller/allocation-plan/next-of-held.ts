import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { cidrContains, formatCidr } from '#pkg/ip/cidr.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { recordValue } from '#pkg/record/record-value.ts';
import { LAST_ADDRESS_ANNOTATION } from '#pkg/vitistack/vitistack-names.ts';
import { readRequested } from './address-objection.ts';
import { NO_ADDRESS, networkStatus, planAllocationStatus, type WantedStatus } from './allocation-status.ts';
import type { AllocationStep } from './allocation-step.ts';
import { planExpiry, readExpiryMs } from './expiry.ts';
import { missingAllocationMetadata } from './missing-metadata.ts';
import type { ObservedAllocation } from './observed-allocation.ts';

/** A NetworkConfiguration that is gone is looked for again after this time, by a read of the API server itself. */
export const GONE_FOR_MS = 60_000;

/** The next step of an IPAllocation that has its record. Whatever becomes of its network, the address stays with it. */
export function nextOfHeld(seen: ObservedAllocation, now: Date): AllocationStep {
  const { allocation, configuration, records } = seen;
  const shown = allocation.shownAddress === null ? null : formatAddress(allocation.shownAddress);
  const asked = readRequested(allocation.requestedAddress);
  const wanted = [shown, asked === null || 'problem' in asked ? null : formatAddress(asked)];
  const [kept, ...surplus] = records.toSorted((a, b) => rank(a, wanted) - rank(b, wanted) || compareValues(a, b));
  if (kept === undefined) return { do: 'rest', why: 'waits' };
  if (kept.spec.holder.uid !== allocation.uid) return { do: 'name-record', record: kept };
  const metadata = missingAllocationMetadata(seen);
  if (metadata !== null) return { do: 'write-metadata', metadata };
  const end = configuration === null ? reclaim(seen, kept, now) : null;
  const step = end ?? settleStatus(seen, describeKept(seen, kept, now), 'allocated');
  const [extra] = surplus;
  // The status decides between two leaders: only one of them can write it. Until it shows one of the two, both are kept.
  return step.do === 'rest' && extra !== undefined ? { do: 'release', record: extra, isReclaimed: false } : step;
}

/** The one that the status shows stays, then the one that is asked for, then the lowest. */
function rank({ spec }: IpRecord, wanted: readonly (string | null)[]): number {
  const at = wanted.indexOf(spec.address);
  return at < 0 ? wanted.length : at;
}

function compareValues(a: IpRecord, b: IpRecord): number {
  return recordValue(a) < recordValue(b) ? -1 : 1;
}

/** Only a NetworkConfiguration that is gone *and* a time that is over give the address back. Null: not now. */
function reclaim(seen: ObservedAllocation, record: IpRecord, now: Date): AllocationStep | null {
  const { allocation, configurationGoneMs } = seen;
  const expiryMs = readExpiryMs(allocation.status['expiresAt']);
  const isOver = allocation.phase === 'Released' || (expiryMs !== null && expiryMs <= now.getTime());
  if (!isOver) return null;
  if (configurationGoneMs === null) return { do: 'look-for-configuration' };
  if (configurationGoneMs < GONE_FOR_MS) return null;
  const { address } = record.spec;
  if (allocation.lastAddress === null || formatAddress(allocation.lastAddress) !== address) {
    return { do: 'write-metadata', metadata: { annotations: { [LAST_ADDRESS_ANNOTATION]: address } } };
  }
  const message = `${address} was given back: NetworkConfiguration ${allocation.networkConfiguration} is gone, and the time of the address is over`;
  const step = settleStatus(seen, { phase: 'Released', message, ...NO_ADDRESS }, 'released');
  return step.do === 'write-status' ? step : { do: 'release', record, isReclaimed: true };
}

function describeKept(seen: ObservedAllocation, { spec }: IpRecord, now: Date): WantedStatus {
  const { allocation, network, configuration } = seen;
  const { status, uid } = allocation;
  const own = network?.poolName === spec.pool.name ? (network.network ?? null) : null;
  const isInside = own !== null && cidrContains(own.pool.subnet, parseAddress(spec.address));
  const ttlSeconds = own?.ttlSeconds ?? null;
  const isLive = configuration !== null;
  const isStamped = readExpiryMs(status['expiresAt']) !== null;
  const expiry =
    ttlSeconds === null || (!isLive && isStamped)
      ? {}
      : { expiresAt: planExpiry({ ...seen, stored: status['expiresAt'], ttlSeconds, uid, now }).expiresAt };
  return {
    phase: 'Allocated',
    address: spec.address,
    ...(isInside && own !== null ? networkStatus(own) : {}),
    ...expiry,
    message: notesOn(seen, spec, expiry.expiresAt ?? status['expiresAt']).join('; ') || null,
  };
}

/** What its owner should know. None of it changes from one second to the next. */
function notesOn(seen: ObservedAllocation, { address, pool }: IpRecord['spec'], expiresAt: unknown): string[] {
  const { allocation, network, facts, configuration } = seen;
  const { value } = parseAddress(address);
  const asked = readRequested(allocation.requestedAddress);
  const notes: (string | false)[] = [
    asked !== null &&
      isOther(asked, value) &&
      `it asks for ${allocation.requestedAddress} now and keeps ${address}; delete it and create it again for another address`,
    asked === null &&
      allocation.lastAddress !== null &&
      allocation.lastAddress.value !== value &&
      `${formatAddress(allocation.lastAddress)}, which it had before, could not be given to it again`,
    ...networkNotes(network, facts, pool.name, address, value),
    configuration === null &&
      (typeof expiresAt === 'string'
        ? `NetworkConfiguration ${allocation.networkConfiguration} is gone: the address is given back after ${expiresAt}`
        : `NetworkConfiguration ${allocation.networkConfiguration} is gone; delete this IPAllocation to give the address back`),
  ];
  return notes.filter((note) => note !== false);
}

function isOther(asked: NonNullable<ReturnType<typeof readRequested>>, value: bigint): boolean {
  return 'problem' in asked || asked.value !== value;
}

function networkNotes(
  network: ObservedAllocation['network'],
  facts: ObservedAllocation['facts'],
  poolName: string,
  address: string,
  value: bigint,
): (string | false)[] {
  const kept = `${address} is kept`;
  if (network === null) return [`its NetworkNamespace does not exist any more; ${kept}`];
  if (network.poolName !== poolName)
    return [`${address} is of ${poolName}; delete it and create it again to change the network`];
  const pool = facts?.pool ?? null;
  if (pool === null) return [`NetworkNamespace ${network.name}: ${network.problem}; ${kept}`];
  if (!cidrContains(pool.subnet, { family: 4, value }))
    return [`${address} is not in ${formatCidr(pool.subnet)} any more; it is kept`];
  return [
    !pool.addresses.contains(value) && `${address} is outside of the range now; it is kept`,
    facts?.reserved.contains(value) === true && `${address} is reserved by a SpiderReservedIP now; it is kept`,
  ];
}

function settleStatus(
  { allocation }: ObservedAllocation,
  wanted: WantedStatus,
  why: 'allocated' | 'released',
): AllocationStep {
  const status = planAllocationStatus(allocation, wanted);
  return status === null ? { do: 'rest', why } : { do: 'write-status', status, why };
}

/** When an IPAllocation that has its address must be looked at again; null: no time is set. */
export function lookAgainInMs(seen: ObservedAllocation, now: Date): number | null {
  const { allocation, configuration, configurationGoneMs, network } = seen;
  const stored = allocation.status['expiresAt'];
  if (configuration !== null) {
    const ttlSeconds = network?.network?.ttlSeconds ?? 0;
    return planExpiry({ ...seen, stored, ttlSeconds, uid: allocation.uid, now }).dueInMs;
  }
  const expiryMs = readExpiryMs(stored);
  if (expiryMs === null) return null;
  const leftMs = expiryMs - now.getTime();
  return leftMs > 0 ? leftMs : Math.max(GONE_FOR_MS - (configurationGoneMs ?? 0), 0);
}
