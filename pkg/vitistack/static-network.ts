import { decodeDomain } from '#pkg/crd/decode-domain.ts';
import { asInteger, asListOf, asParsed, asString, type Fields, ifPresent, refuse } from '#pkg/decode/untrusted.ts';
import { type Address, formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { type Cidr, cidrContains, enclosingCidr, formatCidr, parseAddressWithPrefix } from '#pkg/ip/cidr.ts';
import { type Interval, IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';

/** The static block of a NetworkNamespace after decoding: a pool of the ledger, and what its allocations get besides the address. */
export interface StaticNetwork {
  readonly pool: Pool;
  readonly gateway: Address;
  readonly vlanId: number | null;
  readonly dns: readonly string[];
  /** 0: addresses do not expire. */
  readonly ttlSeconds: number;
}

export interface StaticSource {
  /** The name of the pool in the ledger. */
  readonly poolName: string;
  readonly uid: string;
  readonly annotations: Fields;
  readonly isTerminating: boolean;
  /** `spec.ipAllocation.static`. */
  readonly block: Fields;
  /** The status of the NetworkNamespace: it has what Vitistack found out where the block does not say. */
  readonly status: Fields;
}

const PATH = 'spec.ipAllocation.static';
const LONGEST_TEXT = 64;
const LONGEST_DNS = 253;
const HIGHEST_VLAN = 4_094;
/** The shortest that Vitistack's schema allows. A shorter one would be a write per allocation every few seconds. */
const SHORTEST_TTL_SECONDS = 60;
const LONGEST_TTL_SECONDS = 2 ** 31 - 1;

/**
 * Reads the static block. The error names the first fault. `floor`: the first address that may be given out, counted from the network
 * address; by Vitistack's schema the second usable one.
 */
export function decodeStaticNetwork(source: StaticSource, floor: number): StaticNetwork {
  const { poolName: name, uid, block, status, annotations, isTerminating } = source;
  const subnet = decodeSubnet(block, status);
  const gateway = decodeGateway(block['ipv4Gateway'], subnet);
  const dns = asListOf(block['dns'], `${PATH}.dns`, (item, path) => asString(item, path, LONGEST_DNS));
  return {
    pool: {
      name,
      uid,
      family: 4,
      subnet,
      addresses: decodeAddresses(block, subnet, gateway, floor),
      gateway,
      isTerminating,
      domain: decodeDomain(annotations),
      ...UNUSED,
    },
    gateway,
    vlanId: decodeVlan(block['vlanId'], `${PATH}.vlanId`) ?? (decodeVlan(status['vlanId'], 'status.vlanId') || null),
    dns: dns.length === 0 ? [formatAddress(gateway)] : dns,
    ttlSeconds: decodeTtl(block['ttlSeconds']),
  };
}

/** What only pools of pods have. */
const UNUSED = {
  routes: [],
  podAffinity: null,
  namespaceAffinity: null,
  namespaceNames: [],
  nodeAffinity: null,
  nodeNames: [],
  multusNames: [],
  auto: null,
  isDefault: false,
  isDisabled: false,
  reuseCooldownSeconds: 0,
  detectConflict: null,
  detectGateway: null,
  hasProxyArp: false,
} as const satisfies Partial<Pool>;

/** Host bits are allowed: 10.0.2.5/24 means 10.0.2.0/24. */
function decodeSubnet(block: Fields, status: Fields): Cidr {
  const isInBlock = isFilled(block['ipv4CIDR']);
  const path = isInBlock ? `${PATH}.ipv4CIDR` : 'status.ipv4Prefix';
  if (!isInBlock && !isFilled(status['ipv4Prefix'])) refuse(`${PATH}.ipv4CIDR`, 'must not be empty');
  const found = asParsed(
    isInBlock ? block['ipv4CIDR'] : status['ipv4Prefix'],
    path,
    LONGEST_TEXT,
    parseAddressWithPrefix,
  );
  const { address, prefix } = found;
  if (address.family !== 4) refuse(path, `${formatAddress(address)} is IPv6; IPAllocations are IPv4 only`);
  return enclosingCidr(address, prefix ?? refuse(path, 'has no prefix length; expected a network such as 10.0.2.0/24'));
}

function decodeGateway(value: unknown, subnet: Cidr): Address {
  const path = `${PATH}.ipv4Gateway`;
  if (!isFilled(value)) return firstHost(subnet, path);
  return decodeInside(value, path, subnet);
}

function firstHost(subnet: Cidr, path: string): Address {
  if (subnet.prefix > 30) refuse(path, `must be given: ${formatCidr(subnet)} has no first host to take instead`);
  return { family: 4, value: subnet.first + 1n };
}

/** What lies between start and end. Neither the network's own two addresses nor the gateway are ever given out. */
function decodeAddresses(block: Fields, subnet: Cidr, gateway: Address, floor: number): IntervalSet {
  const lowest = subnet.first + BigInt(floor);
  const highest = subnet.last - 1n;
  if (lowest > highest) {
    refuse(`${PATH}.ipv4CIDR`, `${formatCidr(subnet)} has no room: nothing is left above its first ${floor} addresses`);
  }
  const first = decodeEnd(block['ipv4RangeStart'], 'ipv4RangeStart', subnet) ?? lowest;
  const last = decodeEnd(block['ipv4RangeEnd'], 'ipv4RangeEnd', subnet) ?? highest;
  const [start, end] = [toText(first), toText(last)];
  if (first > last) refuse(`${PATH}.ipv4RangeStart`, `${start} is after the end of the range, ${end}`);
  if (first < lowest) {
    refuse(`${PATH}.ipv4RangeStart`, `${start} is below ${toText(lowest)}, the first that may be given out`);
  }
  const range: Interval = { first, last: last > highest ? highest : last };
  if (range.first > range.last) refuse(`${PATH}.ipv4RangeStart`, `${start} is the broadcast address`);
  const addresses = IntervalSet.of([range]).subtract(IntervalSet.of([{ first: gateway.value, last: gateway.value }]));
  if (addresses.isEmpty) refuse(`${PATH}.ipv4RangeStart`, `${start} to ${end} holds nothing but the gateway`);
  return addresses;
}

function decodeEnd(value: unknown, field: string, subnet: Cidr): bigint | null {
  return isFilled(value) ? decodeInside(value, `${PATH}.${field}`, subnet).value : null;
}

function decodeInside(value: unknown, path: string, subnet: Cidr): Address {
  const address = asParsed(value, path, LONGEST_TEXT, parseAddress);
  if (address.family !== 4) refuse(path, `${formatAddress(address)} is IPv6; IPAllocations are IPv4 only`);
  if (!cidrContains(subnet, address)) refuse(path, `${formatAddress(address)} is not in ${formatCidr(subnet)}`);
  return address;
}

function decodeVlan(value: unknown, path: string): number | null {
  return ifPresent(value, (vlan) => asInteger(vlan, path, 0, HIGHEST_VLAN)) ?? null;
}

function decodeTtl(value: unknown): number {
  const seconds = ifPresent(value, (ttl) => asInteger(ttl, `${PATH}.ttlSeconds`, 0, LONGEST_TTL_SECONDS)) ?? 0;
  return seconds === 0 ? 0 : Math.max(seconds, SHORTEST_TTL_SECONDS);
}

/** An empty text is an absent one: the Go types write it so. */
function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function toText(value: bigint): string {
  return formatAddress({ family: 4, value });
}
