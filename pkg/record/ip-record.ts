import type { Family } from '#pkg/ip/address.ts';
import type { Route } from '#pkg/pool/pool.ts';

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
  readonly pool: { readonly kind: 'SpiderIPPool'; readonly name: string; readonly uid: string };
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

/** Canonical text tells: only IPv6 has colons. */
export function recordFamily({ spec }: Pick<IpRecord, 'spec'>): Family {
  return spec.address.includes(':') ? 6 : 4;
}
