import { ifPresent, refuse, refuseUnknownFields } from '#pkg/decode/untrusted.ts';
import type { Address, Family } from '#pkg/ip/address.ts';
import { type Cidr, formatCidr } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Route } from '#pkg/pool/pool.ts';
import { decodeDomain } from './decode-domain.ts';
import {
  decodeAddressInside,
  decodeIpVersion,
  decodeRangesInside,
  decodeSubnet,
  refuseOverlap,
} from './decode-network.ts';
import { decodeObject } from './decode-object.ts';
import { decodeRoutes } from './decode-routes.ts';

export interface SpiderSubnet {
  readonly name: string;
  readonly uid: string;
  readonly family: Family;
  readonly subnet: Cidr;
  /** `spec.ips` less `spec.excludeIPs`. */
  readonly addresses: IntervalSet;
  readonly gateway: Address | null;
  readonly routes: readonly Route[];
  readonly domain: string;
  readonly isTerminating: boolean;
}

const SPEC_FIELDS = ['ipVersion', 'subnet', 'ips', 'excludeIPs', 'gateway', 'routes', 'vlan'];

export function decodeSpiderSubnet(value: unknown): SpiderSubnet {
  const { metadata, spec } = decodeObject(value, 'SpiderSubnet');
  refuseUnknownFields(spec, 'spec', SPEC_FIELDS);
  const subnet = decodeSubnet(spec['subnet'], 'spec.subnet');
  const version = decodeIpVersion(spec['ipVersion'], 'spec.ipVersion') ?? subnet.family;
  if (version !== subnet.family)
    refuse('spec.ipVersion', `${version} does not agree with the subnet ${formatCidr(subnet)}`);
  const listed = decodeRangesInside(subnet, spec['ips'], 'spec.ips');
  refuseOverlap(listed, 'spec.ips');
  const excluded = decodeRangesInside(subnet, spec['excludeIPs'], 'spec.excludeIPs');
  return {
    name: metadata.name,
    uid: metadata.uid,
    family: subnet.family,
    subnet,
    addresses: IntervalSet.of(listed).subtract(IntervalSet.of(excluded)),
    gateway: ifPresent(spec['gateway'], (gateway) => decodeAddressInside(subnet, gateway, 'spec.gateway')) ?? null,
    routes: decodeRoutes(subnet, spec['routes'], 'spec.routes'),
    domain: decodeDomain(metadata.annotations),
    isTerminating: metadata.isTerminating,
  };
}
