import { type Cidr, formatCidr } from '#pkg/ip/cidr.ts';

export const POOL_CIDR_LABEL = 'ipam.spidernet.io/ippool-cidr';
export const SUBNET_CIDR_LABEL = 'ipam.spidernet.io/subnet-cidr';

/** `10.6.0.0/16` as a label may hold it: `10-6-0-0-16`. Null for what no label can hold: one cannot begin with a hyphen (`::/96`). */
export function cidrLabel(subnet: Cidr): string | null {
  const label = formatCidr(subnet).replace(/[.:/]/g, '-');
  return label.startsWith('-') ? null : label;
}
