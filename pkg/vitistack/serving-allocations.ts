import type { IpAllocation } from './read-ip-allocation.ts';
import {
  MOST_INTERFACES,
  type NetworkConfiguration,
  type ShownInterface,
  type WantedInterface,
} from './read-network-configuration.ts';

export interface ServedInterface {
  readonly wanted: WantedInterface;
  /** What the status shows of it now. */
  readonly shown: ShownInterface | null;
  /** The IPAllocations that serve it, the one whose address comes first before the others. */
  readonly allocations: readonly IpAllocation[];
}

/**
 * Which IPAllocations serve which interface. One that names no interface, as the published example does, serves the interface that
 * shows its address, and before that the first interface without one of its own.
 */
export function serveInterfaces(
  { interfaces, shown }: NetworkConfiguration,
  allocations: readonly IpAllocation[],
): readonly ServedInterface[] {
  const named = (wanted: WantedInterface) => allocations.filter((it) => it.interface === wanted.name);
  const unnamed = interfaces.some((it) => it.name === '') ? [] : allocations.filter((it) => it.interface === '');
  const known = unique(interfaces);
  const pairs = pairInterfaces(known, shown);
  const shownOf = (wanted: WantedInterface) => pairs.get(wanted) ?? null;
  const forUnnamed = known.find((it) => named(it).every(({ isMadeByUs }) => isMadeByUs)) ?? known[0];
  const servedBy = (it: IpAllocation) => {
    const address = addressOf(it);
    return known.find((wanted) => address !== null && shownOf(wanted)?.addresses.includes(address)) ?? forUnnamed;
  };
  return known.map((wanted) => {
    const found = shownOf(wanted);
    const serving = [...named(wanted), ...unnamed.filter((it) => servedBy(it) === wanted)];
    return { wanted, shown: found, allocations: inOrder(serving, found) };
  });
}

/** A second interface of the same name is left out: an IPAllocation could not say which one it means. */
export function unique(interfaces: readonly WantedInterface[]): readonly WantedInterface[] {
  const known = interfaces.slice(0, MOST_INTERFACES);
  return known.filter((it, at) => known.findIndex(({ name }) => name === it.name) === at);
}

type Pairing = (shown: ShownInterface, wanted: WantedInterface) => boolean;

/** By name; an older status may have the hardware address alone, and an interface may have neither. The surest go first. */
const PAIRINGS: readonly Pairing[] = [
  (shown, wanted) => shown.name !== '' && shown.name === wanted.name,
  (shown, wanted) => shown.name === '' && shown.macAddress !== '' && isSameText(shown.macAddress, wanted.macAddress),
  (shown, wanted) => shown.name === '' && wanted.name === '' && (shown.macAddress === '' || wanted.macAddress === ''),
];

/** What the status shows is of one interface only: two of them may have one hardware address, such as the VLANs of a card. */
function pairInterfaces(
  interfaces: readonly WantedInterface[],
  shown: readonly ShownInterface[],
): ReadonlyMap<WantedInterface, ShownInterface> {
  const pairs = new Map<WantedInterface, ShownInterface>();
  const left = new Set(shown);
  for (const isPair of PAIRINGS) {
    for (const wanted of interfaces) {
      const found = pairs.has(wanted) ? undefined : [...left].find((it) => isPair(it, wanted));
      if (found === undefined) continue;
      pairs.set(wanted, found);
      left.delete(found);
    }
  }
  return pairs;
}

function isSameText(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** A consumer takes the first address, so the one that is shown first stays first. Otherwise the oldest comes first. */
function inOrder(allocations: readonly IpAllocation[], shown: ShownInterface | null): readonly IpAllocation[] {
  const first = shown?.addresses[0];
  const rank = (it: IpAllocation) => (first !== undefined && addressOf(it) === first ? 0 : 1);
  return allocations.toSorted((a, b) => rank(a) - rank(b) || compareAge(a, b));
}

/** The address that an IPAllocation has now, as its status shows it. */
export function addressOf({ status, phase, isDeleting, shownAddress }: IpAllocation): string | null {
  if (isDeleting || phase === 'Released' || shownAddress === null) return null;
  return String(status['address']);
}

function compareAge(a: IpAllocation, b: IpAllocation): number {
  const [x, y] = [`${a.createdAt}/${a.name}`, `${b.createdAt}/${b.name}`];
  return x < y ? -1 : Number(x > y);
}
