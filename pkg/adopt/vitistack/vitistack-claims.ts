import { type Address, formatAddress, tryParseAddress } from '#pkg/ip/address.ts';
import { furtherAllocationName } from '#pkg/vitistack/provider-names.ts';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { NetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import type { NetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import { serveInterfaces } from '#pkg/vitistack/serving-allocations.ts';
import { STATIC_PROVIDER } from '#pkg/vitistack/vitistack-names.ts';
import { HolderNames } from './holder-names.ts';

/** One statement of static-ip-operator's objects that an address is in use. */
export interface VitistackClaim {
  readonly address: Address;
  readonly namespace: string;
  /** The IPAllocation that holds the address, or that our controller will make for the interface. */
  readonly allocation: { readonly name: string; readonly uid: string | null };
  readonly networkNamespace: string;
  readonly configuration: string;
  /** RFC 3339 in whole seconds. */
  readonly createdAt: string;
  /** The object that says so, for the report. */
  readonly source: string;
}

export interface VitistackObjects {
  readonly networks: readonly NetworkNamespace[];
  readonly configurations: readonly NetworkConfiguration[];
  readonly allocations: readonly IpAllocation[];
}

/**
 * All addresses that static-ip-operator gave out. Its newer versions have IPAllocations; the oldest has the status of the
 * NetworkConfiguration alone. What both say is one claim.
 */
export function readVitistackClaims(objects: VitistackObjects): {
  readonly claims: readonly VitistackClaim[];
  /** Entries that cannot be read, one line each. Which addresses they stand for is unknown. */
  readonly unreadable: readonly string[];
} {
  const ofAllocations = objects.allocations.filter(({ phase }) => phase !== 'Released').map(fromAllocation);
  const known = new Set(
    objects.allocations.map(({ namespace, networkConfiguration, shownAddress }) =>
      entryKey(namespace, networkConfiguration, shownAddress?.value),
    ),
  );
  const names = new HolderNames(objects.allocations);
  const ofConfigurations = objects.configurations
    .toSorted(compareAge)
    .flatMap((it) => fromConfiguration(it, objects, names))
    .filter((it) => typeof it === 'string' || !known.has(it.entry))
    .map((it) => (typeof it === 'string' ? it : it.claim));
  const read = [...ofAllocations, ...ofConfigurations].filter((it) => it !== null);
  return {
    claims: read.filter((it) => typeof it !== 'string'),
    unreadable: read.filter((it) => typeof it === 'string'),
  };
}

function fromAllocation(it: IpAllocation): VitistackClaim | string | null {
  const { namespace, name, uid, networkNamespace, networkConfiguration, createdAt, shownAddress, status } = it;
  const source = `IPAllocation ${namespace}/${name}`;
  const text = status['address'];
  if (text === undefined || text === null || text === '') return null;
  if (shownAddress === null) return `${source}: status.address is no address`;
  const whose = { namespace, allocation: { name, uid }, networkNamespace, configuration: networkConfiguration };
  return { address: shownAddress, ...whose, createdAt, source };
}

type Entry = { readonly claim: VitistackClaim; readonly entry: string };

function fromConfiguration(
  it: NetworkConfiguration,
  { networks, allocations }: VitistackObjects,
  names: HolderNames,
): readonly (Entry | string)[] {
  const { namespace, name, createdAt, provider, shown } = it;
  const network = networkOf(it, networks);
  const isOurs = provider === STATIC_PROVIDER || (provider === '' && network?.type === 'static');
  if (!isOurs) return [];
  const networkNamespace = it.networkNamespace === '' ? (network?.name ?? '') : it.networkNamespace;
  const own = allocations.filter((other) => other.namespace === namespace && other.networkConfiguration === name);
  const served = serveInterfaces(it, own);
  const source = `NetworkConfiguration ${namespace}/${name}`;
  return shown
    .filter(({ isStatic }) => isStatic)
    .flatMap((entry) => {
      const wanted = served.find((one) => one.shown === entry) ?? null;
      const read = entry.addresses.map((text) => tryParseAddress(text.split('/', 1)[0] ?? ''));
      const first = read.findIndex((address) => address?.family === 4);
      return entry.addresses.map((text, index): Entry | string => {
        const address = read[index] ?? null;
        if (address === null) return `${source}: ${JSON.stringify(text.slice(0, 60))} of ${entry.name} is no address`;
        const nic = wanted?.wanted.name ?? entry.name;
        const further = { name: furtherAllocationName(name, nic, formatAddress(address)), uid: null };
        const allocation = index === first && wanted !== null ? (names.find(it, wanted) ?? further) : further;
        const claim = { address, namespace, allocation, networkNamespace, configuration: name, createdAt };
        return {
          claim: { ...claim, source: `${source} ${nic}`.trimEnd() },
          entry: entryKey(namespace, name, address.value),
        };
      });
    });
}

function entryKey(namespace: string, configuration: string, value: bigint | undefined): string {
  return `${namespace}/${configuration}/${value ?? ''}`;
}

/** Where it names none: the first of its namespace, which is what static-ip-operator takes. */
function networkOf(it: NetworkConfiguration, networks: readonly NetworkNamespace[]): NetworkNamespace | undefined {
  const near = networks.filter(({ namespace }) => namespace === it.namespace);
  if (it.networkNamespace !== '') return near.find(({ name }) => name === it.networkNamespace);
  return near.toSorted((a, b) => (a.name < b.name ? -1 : 1))[0];
}

function compareAge(a: NetworkConfiguration, b: NetworkConfiguration): number {
  const [x, y] = [`${a.createdAt}/${a.namespace}/${a.name}`, `${b.createdAt}/${b.namespace}/${b.name}`];
  return x < y ? -1 : Number(x > y);
}
