import type { Address } from '#pkg/ip/address.ts';

/** Why nothing is asked and nothing said, where a call's namespace is not in this agent's sight. */
export const UNSEEN_NAMESPACE = 'this agent does not see the network namespace of the call';

interface LinkTarget {
  readonly netns: string;
  readonly interface: string;
}

/** The addresses of one interface, as this node has handed them out. */
export interface AnnounceTarget extends LinkTarget {
  readonly addresses: readonly Address[];
}

/** One address of one interface, as this node is about to hand it out. */
export interface ProbeTarget extends LinkTarget {
  readonly address: Address;
  readonly gateway: Address | null;
  readonly detectConflict: boolean;
  /** Without effect where there is no gateway. */
  readonly detectGateway: boolean;
  readonly windowMs: number;
  /** How many probes go out within the window. */
  readonly count: number;
}

export type ProbeVerdict =
  | { readonly kind: 'free' }
  /** Another host answers for the address, or probes for it. */
  | { readonly kind: 'conflict'; readonly mac: string }
  | { readonly kind: 'gateway-unreachable' }
  /** There is nothing to probe on: no such link yet, or one without neighbours. */
  | { readonly kind: 'skipped'; readonly why: string }
  /** The probe could not be carried out: nothing is known about the address. */
  | { readonly kind: 'failed'; readonly why: string };

export type Announcement =
  | { readonly kind: 'announced' }
  /** A link without ARP and NDP: nobody there keeps what could be outdated. */
  | { readonly kind: 'not-needed' }
  | { readonly kind: 'no-namespace' | 'no-link' | 'link-down' | 'failed'; readonly why: string };
