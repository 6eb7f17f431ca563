import { type Cidr, formatCidr } from '#pkg/ip/cidr.ts';

export const POOL_CIDR_LABEL = 'ipam.spidernet.io/ippool-cidr';
export const SUBNET_CIDR_LABEL = 'ipam.spidernet.io/subnet-cidr';

/** `10.6.0.0/16` as a label value: `10-6-0-0-16`. Null if it cannot be one: a label value cannot begin with a hyphen (`::/96`). */
export function cidrLabel(subnet: Cidr): string | null {
  const label = formatCidr(subnet).replace(/[.:/]/g, '-');
  return label.startsWith('-') ? null : label;
}
