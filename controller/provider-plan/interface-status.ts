import { tryParseAddress } from '#pkg/ip/address.ts';
import { enclosingCidr, formatCidr } from '#pkg/ip/cidr.ts';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { addressOf, type ServedInterface } from '#pkg/vitistack/serving-allocations.ts';
import type { StatusFacts } from './configuration-status.ts';
import { addressToKeep } from './draft-allocation.ts';

/** The fields of an interface that we write. For a static network no other operator writes them. */
const OWN_FIELDS = [
  'name',
  'macAddress',
  'vlan',
  'ipv4Addresses',
  'ipv4Subnet',
  'ipv4Gateway',
  'dns',
  'ipAllocated',
  'allocationMethod',
  'allocationExpiry',
];

/** What of an interface in the status is ours. One that DHCP serves is there under its name alone. */
export function ownFieldsOf(shown: object): object {
  const isStatic = !('allocationMethod' in shown) || shown.allocationMethod !== 'dhcp';
  const fields = isStatic ? OWN_FIELDS : OWN_FIELDS.slice(0, 3);
  return Object.fromEntries(Object.entries(shown).filter(([field]) => fields.includes(field)));
}

/**
 * `status.networkInterfaces`. Consumers pair it with the spec by the hardware address, so that stays in it. An address is shown until
 * there is another one: a machine goes on using it, and a new IPAllocation asks for it.
 */
export function shownInterfaces(facts: StatusFacts): readonly object[] {
  const { configuration, served } = facts;
  const matched = new Set(served.map(({ shown }) => shown));
  const others = configuration.shown.filter((it) => !matched.has(it) && !it.isStatic).map(({ fields }) => fields);
  return [...served.map((it) => shownInterface(it, facts)), ...others];
}

function shownInterface(served: ServedInterface, facts: StatusFacts): object {
  const { wanted, shown, allocations } = served;
  const kept = Object.entries(shown?.fields ?? {}).filter(([field]) => !OWN_FIELDS.includes(field));
  const macAddress = wanted.macAddress === '' ? (shown?.macAddress ?? '') : wanted.macAddress;
  return {
    ...Object.fromEntries(kept),
    ...filled({ name: wanted.name, macAddress, vlan: wanted.vlan }),
    ...(allocated(allocations) ?? keptAddress(served, facts)),
  };
}

function allocated(allocations: readonly IpAllocation[]): object | null {
  const holding = allocations.filter((it) => addressOf(it) !== null);
  const [first] = holding;
  if (first === undefined) return null;
  const { prefix, gateway, dns, expiresAt } = first.status;
  const address = tryParseAddress(addressOf(first) ?? '');
  const isPrefix = typeof prefix === 'number' && Number.isInteger(prefix) && prefix >= 0 && prefix <= 32;
  return {
    ipv4Addresses: [...new Set(holding.flatMap((it) => addressOf(it) ?? []))],
    ...filled({
      ipv4Subnet: address === null || !isPrefix ? '' : formatCidr(enclosingCidr(address, prefix)),
      ipv4Gateway: gateway,
      allocationExpiry: expiresAt,
    }),
    ...(Array.isArray(dns) && dns.length > 0 ? { dns } : {}),
    ipAllocated: true,
    allocationMethod: 'static',
  };
}

/** What is shown stays as it is, but for `ipAllocated`: no IPAllocation has it now. */
function keptAddress({ shown }: ServedInterface, { configuration, network }: StatusFacts): object {
  if (shown === null) return {};
  const isKept = !shown.isStatic || network === null || addressToKeep(configuration, network, shown) !== null;
  if (!isKept) return {};
  const fields = Object.entries(shown.fields).filter(([field]) => OWN_FIELDS.slice(3).includes(field));
  return Object.fromEntries(fields.filter(([field]) => !shown.isStatic || field !== 'ipAllocated'));
}

function filled(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'string' && value !== ''));
}
