import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type Family, formatAddress, parseAddress } from './address.ts';
import type { Interval } from './interval-set.ts';
import { quote } from './quote.ts';

export interface AddressRange {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

/** Reads `10.0.0.5` or `10.0.0.5-10.0.0.9`, Spiderpool's only two forms. */
export function parseRange(text: string): AddressRange {
  if (text.includes('/')) {
    throw new IpamError('bad-input', `${quote(text)} is in CIDR form; write a range such as 10.0.0.10-10.0.0.20`);
  }
  const dash = text.indexOf('-');
  const first = parseAddress(dash === -1 ? text : text.slice(0, dash));
  const last = dash === -1 ? first : parseAddress(text.slice(dash + 1));
  if (first.family !== last.family) {
    throw new IpamError('bad-input', `${text} mixes IPv4 and IPv6`);
  }
  if (first.value > last.value) {
    throw new IpamError('bad-input', `${text} is reversed: the first address must not be above the last`);
  }
  return { family: first.family, first: first.value, last: last.value };
}

export function formatRange(family: Family, { first, last }: Interval): string {
  const firstText = formatAddress({ family, value: first });
  return first === last ? firstText : `${firstText}-${formatAddress({ family, value: last })}`;
}
