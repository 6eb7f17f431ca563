import { isDnsLabel } from '#pkg/decode/dns-name.ts';
import { type Address, formatAddress, tryParseAddress } from '#pkg/ip/address.ts';

export const DEFAULT_DOMAIN = 'default';

const NAME = /^(\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{4}(?:-[0-9a-f]{4}){7})(?:\.([-a-z0-9]{1,63}))?$/;

/** The one name the record of an address can have: unique names make unique addresses only while there is no second form. */
export function recordName(address: Address, domain: string): string {
  const host = address.family === 4 ? formatAddress(address) : toLongForm(address.value);
  return domain === DEFAULT_DOMAIN ? host : `${host}.${domain}`;
}

/** Null for anything but what `recordName` writes. */
export function parseRecordName(name: string): { address: Address; domain: string } | null {
  const [, host = '', domain = DEFAULT_DOMAIN] = NAME.exec(name) ?? [];
  const address = tryParseAddress(host.replaceAll('-', ':'));
  if (address === null || !isDnsLabel(domain) || recordName(address, domain) !== name) return null;
  return { address, domain };
}

function toLongForm(value: bigint): string {
  return value
    .toString(16)
    .padStart(32, '0')
    .replace(/.{4}(?!$)/g, '$&-');
}
