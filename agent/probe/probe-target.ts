import type { Address } from '#pkg/ip/address.ts';

/** The reason for neither probing nor announcing when the agent cannot see the network namespace of the call. */
export const UNSEEN_NAMESPACE = 'this agent does not see the network namespace of the call';

interface LinkTarget {
  readonly netns: string;
  readonly interface: string;
}

/** The addresses of one interface that the agent has answered with. */
export interface AnnounceTarget extends LinkTarget {
  readonly addresses: readonly Address[];
}

/** One address of one interface that the agent is about to answer with. */
export interface ProbeTarget extends LinkTarget {
  readonly address: Address;
  readonly gateway: Address | null;
  readonly detectConflict: boolean;
  /** Has no effect without a gateway. */
  readonly detectGateway: boolean;
  readonly windowMs: number;
  /** How many probes go out within the window. */
  readonly count: number;
  /** Answers of this host do not count. */
  readonly ignoredMac?: string;
  /** The interface belongs to another pod: if it is down, it stays down, and nothing is asked. */
  readonly isBorrowed?: boolean;
}

export type ProbeVerdict =
  | { readonly kind: 'free' }
  /** Another host answers for the address, or probes for it. */
  | { readonly kind: 'conflict'; readonly mac: string }
  | { readonly kind: 'gateway-unreachable' }
  /** No probe is possible: the link does not exist yet, or has no neighbours. */
  | { readonly kind: 'skipped'; readonly why: string }
  /** The probe could not be carried out: nothing is known about the address. */
  | { readonly kind: 'failed'; readonly why: string };

export type Announcement =
  | { readonly kind: 'announced' }
  /** A link without ARP and NDP: no neighbour has a cache entry that could be old. */
  | { readonly kind: 'not-needed' }
  | { readonly kind: 'no-namespace' | 'no-link' | 'link-down' | 'failed'; readonly why: string };
