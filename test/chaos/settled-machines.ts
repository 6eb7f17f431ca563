import { parseAddress } from '#pkg/ip/address.ts';
import { type Interval, IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { ApiObject, ChaosApi } from './chaos-api.ts';
import {
  ALLOCATIONS,
  CLAIMS,
  CONFIGURATIONS,
  IP_ADDRESSES,
  isStaying,
  keyOf,
  type Machine,
  machinesOfAllocations,
  machinesOfClaims,
  NETWORKS,
} from './machines.ts';
import type { SeenRecord } from './referee.ts';

export interface MachineWorld {
  readonly records: readonly SeenRecord[];
  readonly pools: readonly ApiObject[];
  readonly claims: readonly ApiObject[];
  readonly ipAddresses: readonly ApiObject[];
  readonly allocations: readonly ApiObject[];
  readonly configurations: readonly ApiObject[];
  readonly networks: readonly ApiObject[];
}

export async function listMachineWorld(
  api: Pick<ChaosApi, 'list'>,
  seen: Pick<MachineWorld, 'records' | 'pools'>,
): Promise<MachineWorld> {
  return {
    ...seen,
    ipAddresses: await api.list(IP_ADDRESSES),
    claims: await api.list(CLAIMS),
    allocations: await api.list(ALLOCATIONS),
    configurations: await api.list(CONFIGURATIONS),
    networks: await api.list(NETWORKS),
  };
}

/** Errors in a settled cluster: machines that wait without need, leaks, lost records, wrong counts. Empty means success. */
export function judgeMachines(world: MachineWorld): string[] {
  const { ipAddresses, claims, allocations, configurations, networks, records } = world;
  const machines = [...machinesOfClaims(ipAddresses, claims), ...machinesOfAllocations(allocations)];
  const of = new Map(machines.map((machine) => [machine.uid, machine]));
  const ending = [...claims, ...ipAddresses, ...allocations, ...configurations].filter((it) => !isStaying(it));
  return [
    ...ending.map(({ metadata }) => `${keyOf(metadata)} (${metadata.uid}) is still being deleted`),
    ...ipAddresses
      .filter((it) => !isOwned(it, claims))
      .map(({ metadata }) => {
        return `IPAddress ${keyOf(metadata)} is left without its claim`;
      }),
    ...claims.flatMap((claim) => judgeClaim(claim, of.get(claim.metadata.uid), world)),
    ...allocations.flatMap((it) => judgeAllocation(it, of.get(it.metadata.uid), world)),
    ...configurations.flatMap((it) => judgeConfiguration(it, allocations)),
    ...networks.flatMap((it) => judgeNetwork(it, records)),
    ...judgeRecords(records, of),
  ];
}

function isOwned({ metadata: { ownerReferences = [] } }: ApiObject, owners: readonly ApiObject[]): boolean {
  return ownerReferences.some(({ uid }) => owners.some(({ metadata }) => metadata.uid === uid));
}

/** Ready with its address, or without one because there is none. */
function judgeClaim(claim: ApiObject, machine: Machine | undefined, { records, pools }: MachineWorld): string[] {
  const { reason = 'nothing', message = '' } = readyOf(claim);
  const said = `claim ${keyOf(claim.metadata)} says ${reason}: ${message}`;
  if (machine !== undefined) return reason === 'Ready' ? [] : [`${said}, and has ${machine.address}`];
  const name = (claim.spec?.['poolRef'] as { readonly name?: string } | undefined)?.name;
  const pool = pools.find(({ metadata }) => metadata.name === name);
  const ranges = (pool?.spec?.['ips'] ?? []) as readonly string[];
  const free = freeOf(ranges, records);
  return reason === 'PoolExhausted' && free === 0n ? [] : [`${said}, and ${free} addresses of pool ${name} are free`];
}

/** Allocated, or without an address because it cannot have one. */
function judgeAllocation(
  allocation: ApiObject,
  machine: Machine | undefined,
  { records, networks, configurations }: MachineWorld,
): string[] {
  if (machine !== undefined) return [];
  const { metadata, spec, status } = allocation;
  const said = `IPAllocation ${keyOf(metadata)} says ${status?.['phase']}: ${status?.['message']}`;
  if (typeof status?.['message'] !== 'string' || status['message'] === '') return [said];
  if (!configurations.some((it) => it.metadata.name === spec?.['networkConfigurationName'])) return [];
  const requested = spec?.['requestedAddress'];
  const network = networks.find((it) => it.metadata.name === spec?.['networkNamespaceName']);
  const ranges = requested === undefined ? rangesOfNetwork(network) : [String(requested)];
  const free = freeOf(ranges, records);
  return status['phase'] === 'Error' && free === 0n ? [] : [`${said}, and ${free} addresses of ${ranges} are free`];
}

/** Its status shows what its IPAllocations show. */
function judgeConfiguration({ metadata, spec, status }: ApiObject, allocations: readonly ApiObject[]): string[] {
  const wanted = ((spec?.['networkInterfaces'] ?? []) as readonly { readonly name: string }[]).map(({ name }) => name);
  const own = allocations.filter((it) => {
    const { networkConfigurationName, interfaceName } = it.spec ?? {};
    return networkConfigurationName === metadata.name && wanted.includes(String(interfaceName));
  });
  const given = machinesOfAllocations(own).map(({ address }) => address);
  const shown = ((status?.['networkInterfaces'] ?? []) as readonly { readonly ipv4Addresses?: readonly string[] }[])
    .flatMap(({ ipv4Addresses = [] }) => ipv4Addresses)
    .sort();
  const said = `NetworkConfiguration ${keyOf(metadata)} says ${status?.['phase']}: ${status?.['message']}`;
  const isComplete = given.length === wanted.length;
  if (own.length !== wanted.length) return [`${said}, and has ${own.length} of ${wanted.length} IPAllocations`];
  if (isComplete !== (status?.['phase'] === 'Ready')) return [`${said}, and its IPAllocations have ${given}`];
  return !isComplete || shown.join() === given.sort().join() ? [] : [`${said}, and shows ${shown} instead of ${given}`];
}

/** The total is what its IPAllocations have and can have. */
function judgeNetwork(network: ApiObject, records: readonly SeenRecord[]): string[] {
  const name = keyOf(network.metadata);
  const allocated = records.filter(({ spec }) => spec.pool.name === name).length;
  const available = Number(freeOf(rangesOfNetwork(network), records));
  const wanted = [allocated, available, allocated + available].join(' + ');
  const summary = (network.status?.['ipAllocationSummary'] ?? {}) as Readonly<Record<string, number>>;
  const counts = ['allocatedCount', 'availableCount', 'totalCount'].map((field) => summary[field] ?? 0).join(' + ');
  return counts === wanted ? [] : [`NetworkNamespace ${name} counts ${counts} instead of ${wanted}`];
}

function judgeRecords(records: readonly SeenRecord[], machines: ReadonlyMap<string, Machine>): string[] {
  const own = records.filter(isOfMachine);
  const kept = own.filter(({ spec: { address, state, holder } }) => {
    const machine = machines.get(holder.uid ?? '');
    return machine?.address === address && machine.kind === holder.kind && state === 'Allocated';
  });
  const held = new Set(kept.map(({ spec }) => spec.holder.uid));
  const lost = [...machines.values()].filter(({ uid }) => !held.has(uid));
  const leaks = own.filter((record) => !kept.includes(record));
  return [
    ...leaks.map(({ spec: { address, state, holder } }) => {
      return `leak: ${address} ${state} of ${holder.kind} ${holder.namespace}/${holder.name} (${holder.uid})`;
    }),
    ...lost.map(({ kind, key, address }) => `${address} is shown for ${kind} ${key} and has no Allocated record`),
  ];
}

export function isOfMachine({ spec: { holder } }: SeenRecord): boolean {
  return holder.kind === 'IPAddressClaim' || holder.kind === 'IPAllocation';
}

function readyOf({ status }: ApiObject): { readonly reason?: string; readonly message?: string } {
  const conditions = (status?.['conditions'] ?? []) as readonly { type: string; reason: string; message: string }[];
  return conditions.find(({ type }) => type === 'Ready') ?? {};
}

function rangesOfNetwork(network: ApiObject | undefined): readonly string[] {
  const { static: block } = (network?.spec?.['ipAllocation'] ?? {}) as { static?: Readonly<Record<string, string>> };
  return block === undefined ? [] : [`${block['ipv4RangeStart']}-${block['ipv4RangeEnd']}`];
}

/** How many addresses have no record at all, of whatever pool. */
function freeOf(ranges: readonly string[], records: readonly SeenRecord[]): bigint {
  const all = IntervalSet.of(ranges.map((range) => parseRange(range)));
  const taken = records.map(({ spec }): Interval => {
    const { value } = parseAddress(spec.address);
    return { first: value, last: value };
  });
  return all.subtract(IntervalSet.of(taken)).size;
}
