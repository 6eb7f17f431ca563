import {
  asBoolean,
  asFilledString,
  asListOf,
  asOneOf,
  childPath,
  type Fields,
  ifPresent,
  refuse,
  refuseUnknownFields,
} from '#pkg/decode/untrusted.ts';
import { type Address, type Family, formatAddress } from '#pkg/ip/address.ts';
import { type Cidr, formatCidr } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { AUTO_POOL_LABELS } from '#pkg/pool/auto-pool.ts';
import type { AutoPoolLabels, Pool } from '#pkg/pool/pool.ts';
import { DOMAIN_ANNOTATION, decodeDomain } from './decode-domain.ts';
import { decodeLabelSelector } from './decode-label-selector.ts';
import {
  decodeAddressInside,
  decodeIpVersion,
  decodeRangesInside,
  decodeSubnet,
  refuseOverlap,
} from './decode-network.ts';
import { decodeObject } from './decode-object.ts';
import { decodeApplicationAffinity, decodePodAffinity } from './decode-pod-affinity.ts';
import { decodeRoutes } from './decode-routes.ts';
import { decodeCooldownSeconds, REUSE_COOLDOWN } from './reuse-cooldown.ts';

const SPEC_FIELDS = [
  'ipVersion',
  'subnet',
  'ips',
  'excludeIPs',
  'gateway',
  'routes',
  'podAffinity',
  'namespaceAffinity',
  'namespaceName',
  'nodeAffinity',
  'nodeName',
  'multusName',
  'default',
  'disable',
];
const DETECT_CONFLICT = 'ipledger.io/detect-ip-conflict';
const DETECT_GATEWAY = 'ipledger.io/detect-gateway';
const PROXY_ARP = 'ipledger.io/proxy-arp';
const LONGEST_NAME = 63 + 1 + 253;

/** Reads a SpiderIPPool. The error names the first fault: its path, what was found and what is expected. */
export function decodePool(value: unknown): Pool {
  const { metadata, spec } = decodeObject(value, 'SpiderIPPool');
  refuseUnknownFields(spec, 'spec', SPEC_FIELDS);
  const subnet = decodeSubnet(spec['subnet'], 'spec.subnet');
  refuseOtherFamily(spec['ipVersion'], subnet);
  const addresses = decodeAddresses(spec, subnet);
  const auto = decodeAutoLabels(metadata.labels);
  return {
    name: metadata.name,
    uid: metadata.uid,
    family: subnet.family,
    subnet,
    addresses,
    gateway: ifPresent(spec['gateway'], (gateway) => decodeGateway(gateway, subnet, addresses)) ?? null,
    routes: decodeRoutes(subnet, spec['routes'], 'spec.routes'),
    podAffinity: ifPresent(spec['podAffinity'], auto !== null ? decodeApplicationAffinity : decodePodAffinity) ?? null,
    namespaceAffinity: decodeSelector(spec, 'namespaceAffinity'),
    namespaceNames: decodeNames(spec, 'namespaceName'),
    nodeAffinity: decodeSelector(spec, 'nodeAffinity'),
    nodeNames: decodeNames(spec, 'nodeName'),
    multusNames: decodeNames(spec, 'multusName'),
    auto,
    isDefault: decodeSwitch(spec, 'default'),
    isDisabled: decodeSwitch(spec, 'disable'),
    isTerminating: metadata.isTerminating,
    ...decodePoolAnnotations(metadata.annotations),
  };
}

/** The annotations of a pool that have a meaning here. */
export const POOL_ANNOTATIONS = [DOMAIN_ANNOTATION, REUSE_COOLDOWN, DETECT_CONFLICT, DETECT_GATEWAY, PROXY_ARP];

export function decodePoolAnnotations(
  annotations: Fields,
): Pick<Pool, 'domain' | 'reuseCooldownSeconds' | 'detectConflict' | 'detectGateway' | 'hasProxyArp'> {
  return {
    domain: decodeDomain(annotations),
    reuseCooldownSeconds: decodeCooldownSeconds(annotations),
    detectConflict: decodeFlag(annotations, DETECT_CONFLICT),
    detectGateway: decodeFlag(annotations, DETECT_GATEWAY),
    hasProxyArp: decodeFlag(annotations, PROXY_ARP) ?? false,
  };
}

/** A label that is missing or no text names nothing, so the pool belongs to no application. */
function decodeAutoLabels(labels: Fields): AutoPoolLabels | null {
  if (!(AUTO_POOL_LABELS.name in labels)) return null;
  const textOf = (label: string) => (typeof labels[label] === 'string' ? labels[label] : '');
  return {
    subnet: textOf(AUTO_POOL_LABELS.subnet),
    interface: textOf(AUTO_POOL_LABELS.interface),
    applicationUid: textOf(AUTO_POOL_LABELS.uid),
    reclaim: textOf(AUTO_POOL_LABELS.reclaim) !== 'false',
  };
}

function refuseOtherFamily(value: unknown, subnet: Cidr): void {
  const version: Family = decodeIpVersion(value, 'spec.ipVersion') ?? subnet.family;
  if (version !== subnet.family)
    refuse('spec.ipVersion', `${version} does not agree with the subnet ${formatCidr(subnet)}`);
}

function decodeAddresses(spec: Fields, subnet: Cidr): IntervalSet {
  const listed = decodeRangesInside(subnet, spec['ips'], 'spec.ips');
  refuseOverlap(listed, 'spec.ips');
  const excluded = decodeRangesInside(subnet, spec['excludeIPs'], 'spec.excludeIPs');
  return IntervalSet.of(listed).subtract(IntervalSet.of(excluded));
}

function decodeGateway(value: unknown, subnet: Cidr, addresses: IntervalSet): Address {
  const gateway = decodeAddressInside(subnet, value, 'spec.gateway');
  if (addresses.contains(gateway.value)) {
    refuse('spec.gateway', `${formatAddress(gateway)} is also in spec.ips; take it out or add it to spec.excludeIPs`);
  }
  return gateway;
}

function decodeSelector(spec: Fields, name: string) {
  return ifPresent(spec[name], (selector) => decodeLabelSelector(selector, `spec.${name}`)) ?? null;
}

function decodeNames(spec: Fields, name: string): string[] {
  return asListOf(spec[name], `spec.${name}`, (item, path) => asFilledString(item, path, LONGEST_NAME));
}

function decodeSwitch(spec: Fields, name: string): boolean {
  return ifPresent(spec[name], (value) => asBoolean(value, `spec.${name}`)) ?? false;
}

function annotationPath(name: string): string {
  return childPath('metadata.annotations', name);
}

/** Annotations are text, so only `"true"` and `"false"` are accepted. */
function decodeFlag(annotations: Fields, name: string): boolean | null {
  const text = ifPresent(annotations[name], (value) => asOneOf(value, annotationPath(name), ['true', 'false']));
  return text === undefined ? null : text === 'true';
}
