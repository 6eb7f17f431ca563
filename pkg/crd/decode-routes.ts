import { asListOf, asObject, asParsed, refuse, refuseUnknownFields } from '#pkg/decode/untrusted.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import { type Cidr, enclosingCidr, formatCidr, parseAddressWithPrefix } from '#pkg/ip/cidr.ts';
import type { Route } from '#pkg/pool/pool.ts';
import { decodeAddressInside } from './decode-network.ts';

export function decodeRoutes(subnet: Cidr, value: unknown, path: string): Route[] {
  const seen = new Set<string>();
  return asListOf(value, path, (item, itemPath) => {
    const fields = asObject(item, itemPath);
    refuseUnknownFields(fields, itemPath, ['dst', 'gw']);
    const dst = decodeDestination(subnet, fields['dst'], `${itemPath}.dst`);
    if (seen.has(dst)) refuse(`${itemPath}.dst`, `${dst} has a route already`);
    seen.add(dst);
    return { dst, gw: formatAddress(decodeAddressInside(subnet, fields['gw'], `${itemPath}.gw`)) };
  });
}

/** Spiderpool accepts host bits in a destination, so stored pools may have them. The kernel would refuse them, so they are cleared. */
function decodeDestination(subnet: Cidr, value: unknown, path: string): string {
  const { address, prefix } = asParsed(value, path, 128, parseAddressWithPrefix);
  if (prefix === null) refuse(path, `${formatAddress(address)} has no prefix length; expected a CIDR`);
  const destination = formatCidr(enclosingCidr(address, prefix));
  if (address.family !== subnet.family)
    refuse(path, `${destination} is not of the family of the subnet, IPv${subnet.family}`);
  if (prefix === 0) refuse(path, `${destination} is the default route; set spec.gateway instead`);
  return destination;
}
