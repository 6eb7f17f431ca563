import type { Address, Family } from '#pkg/ip/address.ts';
import type { Cidr } from '#pkg/ip/cidr.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { LabelSelector } from './label-selector.ts';

export interface Route {
  readonly dst: string;
  readonly gw: string;
}

/** What the labels of an auto pool say beside its `podAffinity`. They are label values: a long name is its hash. */
export interface AutoPoolLabels {
  readonly subnet: string;
  readonly interface: string;
  readonly applicationUid: string;
  /** The pool goes with its application. */
  readonly reclaim: boolean;
}

/** A SpiderIPPool after decoding: everything here has been checked, nothing needs a second look. */
export interface Pool {
  readonly name: string;
  readonly uid: string;
  readonly family: Family;
  readonly subnet: Cidr;
  /** `spec.ips` less `spec.excludeIPs`; reserved addresses are not subtracted here. */
  readonly addresses: IntervalSet;
  readonly gateway: Address | null;
  readonly routes: readonly Route[];
  readonly podAffinity: LabelSelector | null;
  readonly namespaceAffinity: LabelSelector | null;
  readonly namespaceNames: readonly string[];
  readonly nodeAffinity: LabelSelector | null;
  readonly nodeNames: readonly string[];
  readonly multusNames: readonly string[];
  /** Made for one application from a subnet: `podAffinity` names its top controller, not labels. Null for every other pool. */
  readonly auto: AutoPoolLabels | null;
  readonly isDefault: boolean;
  readonly isDisabled: boolean;
  readonly isTerminating: boolean;
  /** Annotation `ipledger.io/domain`: separate L2 or VRF worlds may reuse numbers. */
  readonly domain: string;
  /** Annotation `ipledger.io/reuse-cooldown`; 0 gives an address back at once. */
  readonly reuseCooldownSeconds: number;
  /** Annotations `ipledger.io/detect-ip-conflict` and `ipledger.io/detect-gateway`; null leaves it to the agent. */
  readonly detectConflict: boolean | null;
  readonly detectGateway: boolean | null;
  /** Annotation `ipledger.io/proxy-arp`: the gateway answers for addresses that no host has. */
  readonly hasProxyArp: boolean;
}
