import { type Address, formatAddress, tryParseAddress } from '#pkg/ip/address.ts';
import { cidrContains, formatCidr } from '#pkg/ip/cidr.ts';
import { quote } from '#pkg/ip/quote.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';
import { isOfSameMachine, isRecordOfAllocation } from './allocation-record.ts';
import type { ObservedAllocation } from './observed-allocation.ts';

interface AddressRefusal {
  readonly message: string;
  /** The holder, where only that stands in the way. */
  readonly heldBy?: IpRecord;
}

/** `spec.requestedAddress` as an address, or why it is none. Null: none is asked for. */
export function readRequested(text: string): Address | { readonly problem: string } | null {
  if (text === '') return null;
  const address = tryParseAddress(text.trim());
  if (address === null) return { problem: `spec.requestedAddress: ${quote(text)} is not an IP address` };
  if (address.family === 6)
    return { problem: `spec.requestedAddress: ${quote(text)} is IPv6; IPAllocations are IPv4 only` };
  return address;
}

/** Why the pool does not give this very address; null if it does. */
export function objectToAsked(address: Address, seen: ObservedAllocation): AddressRefusal | null {
  const { facts } = seen;
  if (facts?.pool == null) return { message: 'its NetworkNamespace has no pool' };
  const text = formatAddress(address);
  const outside = objectToPlace(address, facts.pool);
  if (outside !== null) return { message: outside };
  if (!facts.pool.addresses.contains(address.value))
    return { message: `${text} is outside of the range of ${facts.name}` };
  if (facts.reserved.contains(address.value)) return { message: `${text} is reserved by a SpiderReservedIP` };
  return objectToHolder(address, seen);
}

/** Why it cannot be the address of a machine in this network at all. */
export function objectToPlace(address: Address, { subnet, gateway }: Pool): string | null {
  const text = formatAddress(address);
  if (!cidrContains(subnet, address)) return `${text} is not in ${formatCidr(subnet)}`;
  if (address.value === subnet.first) return `${text} is the network address of ${formatCidr(subnet)}`;
  if (address.value === subnet.last) return `${text} is the broadcast address of ${formatCidr(subnet)}`;
  return address.value === gateway?.value ? `${text} is the gateway` : null;
}

/** The record of this address, if it was that of another IPAllocation of the same machine, which is gone: the machine goes on with it. */
export function leftRecordAt(address: Address, seen: ObservedAllocation): IpRecord | null {
  const record = seen.recordAt(address);
  return record !== null && isLeft(record, seen) ? record : null;
}

function isLeft(record: IpRecord, { allocation, isVanished }: ObservedAllocation): boolean {
  return !isRecordOfAllocation(record, allocation) && isOfSameMachine(record, allocation) && isVanished(record);
}

export function objectToHolder(address: Address, seen: ObservedAllocation): AddressRefusal | null {
  const { recordAt, allocation } = seen;
  const record = recordAt(address);
  if (record === null || isRecordOfAllocation(record, allocation) || isLeft(record, seen)) return null;
  return { message: `conflict: ${record.spec.address} is held by ${describeHolder(record)}`, heldBy: record };
}
