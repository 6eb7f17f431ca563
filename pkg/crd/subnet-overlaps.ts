import { type Cidr, formatCidr } from '#pkg/ip/cidr.ts';
import { formatRange } from '#pkg/ip/range.ts';
import type { SpiderSubnet } from './decode-spider-subnet.ts';
import type { DatedPool } from './later-overlaps.ts';

export interface DatedSubnet {
  readonly subnet: SpiderSubnet;
  readonly createdAt: string;
}

/** By name: why the object contradicts one that was created earlier. */
export interface SubnetOverlaps {
  readonly subnets: ReadonlyMap<string, string>;
  readonly pools: ReadonlyMap<string, string>;
}

interface Member {
  readonly kind: 'Subnet' | 'IPPool';
  readonly createdAt: string;
  readonly object: SpiderSubnet | DatedPool['pool'];
}

/**
 * Subnets of one domain must not cross each other. A pool must not cross a subnet of another network, and has only addresses of the
 * subnet of its own network. Admission refuses what breaks these rules; this finds what passed it by way of two replicas.
 */
export function findSubnetOverlaps(subnets: Iterable<DatedSubnet>, pools: Iterable<DatedPool>): SubnetOverlaps {
  const found = { Subnet: new Map<string, string>(), IPPool: new Map<string, string>() };
  const members: Member[] = [
    ...Array.from(subnets, ({ subnet, createdAt }): Member => ({ kind: 'Subnet', createdAt, object: subnet })),
    ...Array.from(pools, ({ pool, createdAt }): Member => ({ kind: 'IPPool', createdAt, object: pool })),
  ].filter(({ object }) => !object.isTerminating);
  for (const group of Map.groupBy(members, ({ object }) => `${object.domain}/${object.family}`).values()) {
    for (const [a, b] of nestedPairs(group)) {
      const problem = contradiction(a, b);
      const later = compareAge(a, b) > 0 ? a : b;
      if (problem !== null && !found[later.kind].has(later.object.name))
        found[later.kind].set(later.object.name, problem);
    }
  }
  return { subnets: found.Subnet, pools: found.IPPool };
}

/** Two networks are apart, or one lies inside the other. So after sorting, those that contain the next one are open. Pairs of pools are left out. */
function* nestedPairs(members: readonly Member[]): Generator<readonly [Member, Member]> {
  const ascending = members.toSorted((a, b) => compareNetworks(a.object.subnet, b.object.subnet) || compareKinds(a, b));
  let open: Member[] = [];
  let openSubnets: Member[] = [];
  for (const next of ascending) {
    const contains = ({ object }: Member) => object.subnet.last >= next.object.subnet.first;
    if (open.some((it) => !contains(it))) open = open.filter(contains);
    openSubnets = openSubnets.filter(contains);
    for (const outer of next.kind === 'Subnet' ? open : openSubnets) yield [outer, next];
    if (next.kind === 'Subnet') openSubnets.push(next);
    // A pool concerns only subnets inside of it; those of its own network came before it.
    open.push(next);
  }
}

function contradiction(a: Member, b: Member): string | null {
  const [subnet, other] = a.kind === 'Subnet' ? [a.object, b] : [b.object, a];
  const isSame =
    subnet.subnet.first === other.object.subnet.first && subnet.subnet.prefix === other.object.subnet.prefix;
  if (other.kind === 'Subnet' || !isSame) {
    const names = [other, { kind: 'Subnet', object: subnet }].map(
      ({ kind, object }) => `${kind} ${object.name} (${formatCidr(object.subnet)})`,
    );
    return `the networks of ${names.join(' and ')} overlap`;
  }
  const [outside] = other.object.addresses.subtract(subnet.addresses).intervals();
  if (outside === undefined) return null;
  const range = formatRange(subnet.family, outside);
  return `IPPool ${other.object.name} has ${range}, which Subnet ${subnet.name} of the same network does not have`;
}

function compareNetworks(a: Cidr, b: Cidr): number {
  if (a.first !== b.first) return a.first < b.first ? -1 : 1;
  return a.prefix - b.prefix;
}

function compareKinds(a: Member, b: Member): number {
  return Number(a.kind === 'IPPool') - Number(b.kind === 'IPPool');
}

/** Created in the same second, the pool counts as the earlier one: it may be in use already. */
function compareAge(a: Member, b: Member): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  if (a.kind !== b.kind) return a.kind === 'IPPool' ? -1 : 1;
  return a.object.name < b.object.name ? -1 : 1;
}
