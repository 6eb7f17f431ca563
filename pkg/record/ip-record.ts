import { type Address, type Family, formatAddress } from '#pkg/ip/address.ts';
import type { Pool, Route } from '#pkg/pool/pool.ts';

export const RECORD_STATES = ['Allocated', 'Retained', 'Suspect', 'Cooling', 'Quarantined'] as const;
export type RecordState = (typeof RECORD_STATES)[number];

export const HOLDER_KINDS = [
  'Pod',
  'VirtualMachineInstance',
  'Container',
  'IPAddressClaim',
  'IPAllocation',
  'Conflict',
] as const;
type HolderKind = (typeof HOLDER_KINDS)[number];

/** Holders that stand for a machine. Only the reconciler of the kind writes and releases their records: no agent does, and no collection. */
export const MACHINE_HOLDER_KINDS = ['IPAddressClaim', 'IPAllocation'] as const satisfies readonly HolderKind[];
export type MachineHolderKind = (typeof MACHINE_HOLDER_KINDS)[number];

export function isMachineHolder<T extends { readonly kind: HolderKind }>(
  holder: T,
): holder is T & { readonly kind: MachineHolderKind } {
  return (MACHINE_HOLDER_KINDS as readonly HolderKind[]).includes(holder.kind);
}

/** Where pools come from. The pool of a NetworkNamespace of Vitistack is named `namespace/name`, so it never has the name of another. */
export const POOL_KINDS = ['SpiderIPPool', 'NetworkNamespace'] as const;
type PoolKind = (typeof POOL_KINDS)[number];

/** The largest `attachGeneration`: the schema of the CRD says int32. */
export const MOST_ATTACHES = 2 ** 31 - 1;

export interface Holder {
  readonly kind: HolderKind;
  readonly namespace: string;
  readonly name: string;
  /** Cleared in Cooling and Quarantined, like `containerID`. */
  readonly uid?: string;
  readonly interface: string;
  /** The CNI network name; the GC verb matches on it, so a record without one is never collected by it. */
  readonly network?: string;
  readonly containerID?: string;
  /** Evidence for "the sandbox is gone". Only written when the agent itself could see the path. */
  readonly netns?: string;
  /** The inode of the namespace: another namespace may be mounted at the same path later. */
  readonly netnsInode?: number;
  /** The boot and the machine on which the agent saw the namespace. Namespaces do not survive a reboot. */
  readonly bootID?: string;
  readonly machineID?: string;
  /** Raised when a re-attach must change the resourceVersion (rule 8). */
  readonly attachGeneration: number;
  readonly node: string;
  /** The top controller. It has a uid where the agent has read the owner itself (rule 10). */
  readonly owner?: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid?: string };
  /** Whether the agent found, by reading the owner, that the holder is sticky. Absent: written before owners were read. */
  readonly sticky?: boolean;
  /** A static pod runs without its API object: only its DEL or its vanished namespace frees the address (rule 6). */
  readonly static?: boolean;
}

export interface RecordSpec {
  /** Canonical text, RFC 5952 for IPv6. */
  readonly address: string;
  readonly prefix: number;
  readonly gateway?: string;
  readonly domain: string;
  readonly pool: { readonly kind: PoolKind; readonly name: string; readonly uid: string };
  readonly state: RecordState;
  /** RFC 3339; present exactly in Cooling and Quarantined. */
  readonly until?: string;
  readonly holder: Holder;
  readonly routes?: readonly Route[];
  readonly cleanGateway?: boolean;
}

/** An address in use: one object whose name is the address. */
export interface IpRecord {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAt: string;
  readonly spec: RecordSpec;
}

/** The spec of a new record: this address of the pool is in use. */
export function allocatedSpec(
  pool: Pool,
  address: Address,
  holder: Holder,
  kind: PoolKind = 'SpiderIPPool',
): RecordSpec {
  return {
    address: formatAddress(address),
    prefix: pool.subnet.prefix,
    ...(pool.gateway === null ? {} : { gateway: formatAddress(pool.gateway) }),
    domain: pool.domain,
    pool: { kind, name: pool.name, uid: pool.uid },
    state: 'Allocated',
    holder,
  };
}

/** A holder has the address or may still have it. Cooling and Quarantined addresses have no holder, and are not free either. */
export function isHeldState(state: RecordState): boolean {
  return state === 'Allocated' || state === 'Retained' || state === 'Suspect';
}

/** A sandbox uses the address, or may still use it. A Retained address waits between two sandboxes. */
export function mayHaveSandbox(state: RecordState): boolean {
  return state === 'Allocated' || state === 'Suspect';
}

/** The same, and what is Retained in doubt: its old sandbox is not proven to be gone. */
export function hasSandboxTraces({ state, holder }: RecordSpec): boolean {
  return mayHaveSandbox(state) || (state === 'Retained' && holder.uid !== undefined);
}

/** States that end at `until`; in them the record has no pod and no container. */
export const TIMED_STATES = ['Cooling', 'Quarantined'] as const satisfies readonly RecordState[];

export function isTimed(state: RecordState): boolean {
  return (TIMED_STATES as readonly RecordState[]).includes(state);
}

/** By the canonical text: only IPv6 has colons. */
export function recordFamily({ spec }: Pick<IpRecord, 'spec'>): Family {
  return spec.address.includes(':') ? 6 : 4;
}

/** The same workload: what a Retained record waits for. Its pod may be another one. */
export function isSameHolder(
  a: Pick<Holder, 'kind' | 'namespace' | 'name'>,
  b: Pick<Holder, 'kind' | 'namespace' | 'name'>,
): boolean {
  return a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}

type OfMachine = Pick<Holder, 'kind' | 'namespace' | 'owner'>;

/** Two IPAllocations of one NetworkConfiguration: the address is that machine's, under whichever of their names. */
export function isSameMachine(a: OfMachine, b: OfMachine): boolean {
  const isNear = a.kind === 'IPAllocation' && b.kind === 'IPAllocation' && a.namespace === b.namespace;
  return isNear && a.owner !== undefined && a.owner.kind === b.owner?.kind && a.owner.name === b.owner.name;
}

type Nic = Pick<Holder, 'kind' | 'namespace' | 'name' | 'uid' | 'interface'>;

/** The same interface of the same pod, from any of its sandboxes. */
export function isSameNic(a: Nic, b: Nic): boolean {
  return isSameHolder(a, b) && a.uid === b.uid && a.interface === b.interface;
}

/** The stable key: who holds an address, over all restarts and containers. None of the parts can contain a slash. */
export function holderKey(holder: Pick<Holder, 'kind' | 'namespace' | 'name' | 'interface'>, family: Family): string {
  return [holder.kind, holder.namespace, holder.name, holder.interface, family].join('/');
}

/** The stable key of a record: of its holder and its address family. */
export function recordKey(record: Pick<IpRecord, 'spec'>): string {
  return holderKey(record.spec.holder, recordFamily(record));
}

/** A holder has one record for each of these (rule 4). */
export function ownedKey(record: Pick<IpRecord, 'spec'>): string {
  return `${recordKey(record)} ${record.spec.holder.uid}`;
}

/** Whether a record that was found under a name is what this spec asks for: in its state, for the same interface of the same pod. */
export function isRecordFor(found: Pick<IpRecord, 'spec'>, wish: RecordSpec): boolean {
  return found.spec.state === wish.state && isSameNic(found.spec.holder, wish.holder);
}

export interface StickySwitches {
  readonly enableStatefulSet: boolean;
  readonly enableKubevirtStaticIP: boolean;
}

const ORDINAL = /^(?:0|[1-9]\d{0,9})$/;

/** Rule 7: StatefulSet pods by their ordinal, and virtual machines; where the owner was read, by what it said (rule 10). */
export function isStickyHolder(
  { kind, name, owner, sticky }: Pick<Holder, 'kind' | 'name' | 'owner' | 'sticky'>,
  switches: StickySwitches,
): boolean {
  if (sticky === false) return false;
  if (kind === 'VirtualMachineInstance') return switches.enableKubevirtStaticIP;
  if (kind !== 'Pod' || !switches.enableStatefulSet) return false;
  return owner !== undefined && isStatefulSet(owner) && ordinalOf(name, owner.name) !== null;
}

/** A static pod, which runs without its API object. Records of older agents are not marked: their owner is the node. */
export function isStaticHolder({ kind, owner, static: isMarked }: Pick<Holder, 'kind' | 'owner' | 'static'>): boolean {
  return isMarked ?? (kind === 'Pod' && owner?.apiVersion === 'v1' && owner.kind === 'Node');
}

/** Only that of Kubernetes itself: which ordinals other kinds of that name want is not known. */
export function isStatefulSet(owner: { readonly apiVersion: string; readonly kind: string } | null): boolean {
  return owner?.apiVersion === 'apps/v1' && owner.kind === 'StatefulSet';
}

/** The number of a StatefulSet's pod; null for a pod that is not named like one. */
export function ordinalOf(podName: string, setName: string): number | null {
  if (!podName.startsWith(`${setName}-`)) return null;
  const text = podName.slice(setName.length + 1);
  return ORDINAL.test(text) ? Number(text) : null;
}

/** KubeVirt's own kind only: what a third party calls by the same name is an owner like any other. */
export function isVirtualMachine<T extends { readonly apiVersion: string; readonly kind: string }>(
  controller: T | null,
): controller is T {
  return controller?.kind === 'VirtualMachineInstance' && controller.apiVersion.startsWith('kubevirt.io/');
}

/** `Container prod/web-0 eth0 on worker-1`, for people. The record of a claim names no interface and no node. */
export function describeHolder({ spec }: IpRecord): string {
  const { kind, namespace, name, interface: nic, node } = spec.holder;
  const who = `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`;
  const where = `${nic === '' ? '' : ` ${nic}`}${node === '' ? '' : ` on ${node}`}`;
  return `${who}${where}${spec.state === 'Allocated' ? '' : ` (${spec.state})`}`;
}
