import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type Address, addressBits, type Family, formatAddress, parseAddress } from './address.ts';
import { quote } from './quote.ts';

export interface Cidr {
  readonly family: Family;
  readonly prefix: number;
  readonly first: bigint;
  readonly last: bigint;
}

const PREFIX = /^(?:0|[1-9]\d{0,2})$/;

/** Reads `10.0.0.0/24`; only the canonical form, so that equal networks are equal texts. */
export function parseCidr(text: string): Cidr {
  const { address, prefix } = parseAddressWithPrefix(text);
  if (prefix === null) {
    throw new IpamError('bad-input', `${quote(text)} has no prefix length; expected a CIDR such as 10.0.0.0/24`);
  }
  const cidr = enclosingCidr(address, prefix);
  if (cidr.first !== address.value) {
    const given = `${formatAddress(address)}/${prefix}`;
    throw new IpamError('bad-input', `${given} has host bits set; did you mean ${formatCidr(cidr)}?`);
  }
  return cidr;
}

/** Reads `10.0.0.5/24` or a bare `10.0.0.5`. */
export function parseAddressWithPrefix(text: string): { address: Address; prefix: number | null } {
  const slash = text.indexOf('/');
  if (slash === -1) return { address: parseAddress(text), prefix: null };
  const addressText = text.slice(0, slash);
  const prefixText = text.slice(slash + 1);
  const address = parseAddress(addressText);
  if (address.family === 4 && addressText.includes(':')) {
    const plain = formatAddress(address);
    throw new IpamError('bad-input', `${quote(text)} is IPv4 in IPv6 form; write ${plain} and an IPv4 prefix length`);
  }
  const bits = addressBits(address.family);
  if (!PREFIX.test(prefixText) || Number(prefixText) > bits) {
    throw new IpamError('bad-input', `${quote(text)} has a bad prefix length; expected a number from 0 to ${bits}`);
  }
  return { address, prefix: Number(prefixText) };
}

/** The network of that size around an address. */
export function enclosingCidr({ family, value }: Address, prefix: number): Cidr {
  const hostBits = BigInt(addressBits(family) - prefix);
  const first = (value >> hostBits) << hostBits;
  return { family, prefix, first, last: first + (1n << hostBits) - 1n };
}

export function formatCidr(cidr: Cidr): string {
  return `${formatAddress({ family: cidr.family, value: cidr.first })}/${cidr.prefix}`;
}

export function cidrContains(cidr: Cidr, address: Address): boolean {
  return cidr.family === address.family && cidr.first <= address.value && address.value <= cidr.last;
}

export function cidrsOverlap(a: Cidr, b: Cidr): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}
