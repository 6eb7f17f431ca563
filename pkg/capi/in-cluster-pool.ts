import { asListOf, asParsed } from '#pkg/decode/untrusted.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type Address, formatAddress, parseAddress } from '#pkg/ip/address.ts';
import { type Cidr, cidrContains, enclosingCidr, formatCidr, parseAddressWithPrefix } from '#pkg/ip/cidr.ts';
import { type Interval, IntervalSet } from '#pkg/ip/interval-set.ts';
import { formatRange, parseRange } from '#pkg/ip/range.ts';
import { isMap, type KubeObject, type NewObject } from '#pkg/kube/objects/kube-object.ts';

const LONGEST_RANGE = 100;

/** A pool of the in-cluster provider, in our terms. */
export interface InClusterPool {
  readonly kind: string;
  readonly name: string;
  /** Null for a GlobalInClusterIPPool. */
  readonly namespace: string | null;
  readonly subnet: Cidr;
  /** What it gives out: without excluded, reserved and gateway addresses. */
  readonly addresses: IntervalSet;
  readonly gateway: Address | null;
  /** A gateway outside of the subnet, which that provider allows and ours does not. */
  readonly leftOutGateway: Address | null;
  readonly cooldownSeconds: number;
}

/** Throws `bad-input` for a pool that cannot be read; the message says where. */
export function readInClusterPool({ metadata, spec }: KubeObject, kind: string): InClusterPool {
  const fields = isMap(spec) ? spec : {};
  const { prefix, gateway: gatewayText, allocateReservedIPAddresses, addressReuseGracePeriodSeconds } = fields;
  const listed = readSet(fields['addresses'], 'spec.addresses');
  const lowest = listed.set.lowest();
  if (lowest === null || typeof prefix !== 'number') {
    throw new IpamError('bad-input', `${kind} ${metadata.name} has no addresses or no prefix`);
  }
  const subnet = enclosingCidr({ family: listed.family, value: lowest }, prefix);
  const gateway = typeof gatewayText === 'string' && gatewayText !== '' ? parseAddress(gatewayText) : null;
  const isInside = gateway !== null && cidrContains(subnet, gateway);
  const excluded =
    fields['excludedAddresses'] === undefined ? null : readSet(fields['excludedAddresses'], 'spec.excludedAddresses');
  const withheld = [
    ...(gateway?.family === subnet.family ? [{ first: gateway.value, last: gateway.value }] : []),
    ...(allocateReservedIPAddresses === true ? [] : reservedOf(subnet)),
  ];
  return {
    kind,
    name: metadata.name,
    namespace: metadata.namespace ?? null,
    subnet,
    addresses: listed.set.subtract(IntervalSet.of(withheld)).subtract(excluded?.set ?? IntervalSet.EMPTY),
    gateway: isInside ? gateway : null,
    leftOutGateway: isInside ? null : gateway,
    cooldownSeconds: typeof addressReuseGracePeriodSeconds === 'number' ? addressReuseGracePeriodSeconds : 0,
  };
}

/** Disabled: as long as the other provider gives out addresses of the same range, ours must not. */
export function toSpiderPool(pool: InClusterPool): NewObject {
  const { subnet, addresses, gateway, namespace, cooldownSeconds } = pool;
  const ours = spiderPoolName(pool);
  return {
    metadata: {
      name: ours,
      ...(cooldownSeconds === 0 ? {} : { annotations: { 'ipledger.io/reuse-cooldown': `${cooldownSeconds}s` } }),
    },
    spec: {
      disable: true,
      subnet: formatCidr(subnet),
      ips: addresses.intervals().map((interval) => formatRange(subnet.family, interval)),
      ...(gateway === null ? {} : { gateway: formatAddress(gateway) }),
      ...(namespace === null ? {} : { namespaceName: [namespace] }),
    },
  };
}

/** Ours have no namespace, so two pools of one name need two names. */
export function spiderPoolName({ namespace, name }: Pick<InClusterPool, 'namespace' | 'name'>): string {
  return namespace === null ? name : `${namespace}.${name}`;
}

/** IPv4: network and broadcast. IPv6: the first one, which is the routers' anycast address. */
function reservedOf({ family, first, last }: Cidr): Interval[] {
  return family === 4
    ? [
        { first, last: first },
        { first: last, last },
      ]
    : [{ first, last: first }];
}

function readSet(value: unknown, path: string) {
  const intervals = asListOf(value, path, (item, at) => asParsed(item, at, LONGEST_RANGE, readInterval));
  const family = intervals[0]?.family ?? 4;
  if (intervals.some((it) => it.family !== family)) throw new IpamError('bad-input', `${path} mixes IPv4 and IPv6`);
  return { family, set: IntervalSet.of(intervals) };
}

/** A CIDR means all of its addresses, whatever its host bits. */
function readInterval(text: string) {
  const trimmed = text.trim();
  if (!trimmed.includes('/')) return parseRange(trimmed.replaceAll(/\s/g, ''));
  const { address, prefix } = parseAddressWithPrefix(trimmed);
  return enclosingCidr(address, prefix ?? 0);
}
