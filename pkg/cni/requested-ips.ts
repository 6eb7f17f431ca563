import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { JsonFields } from './json-fields.ts';
import { isPlainText, quote } from './text-bounds.ts';

const MAX_ADDRESSES = 8;
/** The longest form of an IPv6 address with prefix length has 49 characters. */
const MAX_ADDRESS = 64;
const MAX_LISTED = 64;

/** Fixed addresses from all three places that may ask for some; Multus fills two of them with the same text. */
export function decodeRequestedIps(conf: JsonFields, fromCniArgs: readonly string[]): readonly string[] {
  const addresses = new Set([
    ...ipsOf(conf.optionalObject('runtimeConfig')),
    ...ipsOf(conf.optionalObject('args')?.optionalObject('cni')),
    ...fromCniArgs.map(boundedAddress),
  ]);
  if (addresses.size > MAX_ADDRESSES) {
    throw new IpamError('bad-config', `${addresses.size} addresses are asked for, at most ${MAX_ADDRESSES} can be`);
  }
  return [...addresses];
}

function ipsOf(fields: JsonFields | undefined): readonly string[] {
  return fields?.textOrTexts('ips', MAX_LISTED, MAX_ADDRESS) ?? [];
}

function boundedAddress(text: string): string {
  if (isPlainText(text, MAX_ADDRESS)) return text;
  throw new IpamError('bad-environment', `IP in CNI_ARGS is no address: ${quote(text)}`);
}
