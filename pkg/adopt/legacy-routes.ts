import { asListOf, asObject, asParsed, refuse } from '#pkg/decode/untrusted.ts';
import { formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { enclosingCidr, formatCidr, parseAddressWithPrefix } from '#pkg/ip/cidr.ts';
import type { Route } from '#pkg/pool/pool.ts';

const LONGEST_TEXT = 64;

/** Brings routes into the form of a record. Spiderpool stores them as they were written, with host bits and in any spelling. */
export function readLegacyRoutes(value: unknown, path: string): Route[] {
  return asListOf(value, path, (item, itemPath) => {
    const fields = asObject(item, itemPath);
    const { address, prefix } = asParsed(fields['dst'], `${itemPath}.dst`, LONGEST_TEXT, parseAddressWithPrefix);
    if (prefix === null) refuse(`${itemPath}.dst`, `${formatAddress(address)} has no prefix length; expected a CIDR`);
    const gw = asParsed(fields['gw'], `${itemPath}.gw`, LONGEST_TEXT, parseAddress);
    if (gw.family !== address.family) refuse(itemPath, 'mixes IPv4 and IPv6');
    return { dst: formatCidr(enclosingCidr(address, prefix)), gw: formatAddress(gw) };
  });
}
