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
  readonly bootID?: string;
  /** Raised when a re-attach must change the resourceVersion (rule 8). */
  readonly attachGeneration: number;
  readonly node: string;
  readonly owner?: { readonly apiVersion: string; readonly kind: string; readonly name: string };
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
