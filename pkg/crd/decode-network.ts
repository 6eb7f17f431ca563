import { asListOf, asOneOf, asParsed, ifPresent, refuse } from '#pkg/decode/untrusted.ts';
import { type Address, type Family, formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { type Cidr, cidrContains, cidrsOverlap, formatCidr, parseCidr } from '#pkg/ip/cidr.ts';
import { type AddressRange, formatRange, parseRange } from '#pkg/ip/range.ts';

const LONGEST_RANGE = 128;
/** Addresses in this network are parsed as IPv4, so no record of an IPv6 pool could name them. */
const MAPPED: Cidr = { family: 6, prefix: 96, first: 0xffffn << 32n, last: (0x10000n << 32n) - 1n };

export function decodeSubnet(value: unknown, path: string): Cidr {
  const subnet = asParsed(value, path, LONGEST_RANGE, parseCidr);
  if (cidrsOverlap(subnet, MAPPED)) refuse(path, `${formatCidr(subnet)} covers IPv4-mapped addresses (::ffff:0:0/96)`);
  return subnet;
}

export function decodeIpVersion(value: unknown, path: string): Family | undefined {
  return ifPresent(value, (version) => asOneOf<Family>(version, path, [4, 6]));
}

export function decodeRanges(value: unknown, path: string): AddressRange[] {
  return asListOf(value, path, (item, itemPath) => asParsed(item, itemPath, LONGEST_RANGE, parseRange));
}

export function decodeAddressInside(subnet: Cidr, value: unknown, path: string): Address {
  const address = asParsed(value, path, LONGEST_RANGE, parseAddress);
  if (!cidrContains(subnet, address))
    refuse(path, `${formatAddress(address)} is not in the subnet ${formatCidr(subnet)}`);
  return address;
}

export function decodeRangesInside(subnet: Cidr, value: unknown, path: string): AddressRange[] {
  const ranges = decodeRanges(value, path);
  for (const [index, range] of ranges.entries()) {
    if (range.family !== subnet.family || range.first < subnet.first || range.last > subnet.last) {
      refuse(`${path}[${index}]`, `${formatRange(range.family, range)} is not in the subnet ${formatCidr(subnet)}`);
    }
  }
  return ranges;
}

export function refuseOverlap(ranges: readonly AddressRange[], path: string): void {
  const ascending = [...ranges.entries()].sort(([, a], [, b]) => (a.first < b.first ? -1 : Number(a.first > b.first)));
  for (const [position, [index, range]] of ascending.entries()) {
    const [nextIndex, next] = ascending[position + 1] ?? [];
    if (next === undefined || nextIndex === undefined || range.last < next.first) continue;
    const other = `${path}[${index}] (${formatRange(range.family, range)})`;
    refuse(`${path}[${nextIndex}]`, `${formatRange(next.family, next)} overlaps ${other}`);
  }
}
