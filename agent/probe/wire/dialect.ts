import type { Address } from '#pkg/ip/address.ts';

/** One received frame that proves another host. */
export interface Sighting {
  readonly of: 'address' | 'gateway';
  readonly mac: string;
}

/** The questions that one address family sends on a link, and which frames are answers. */
export interface Dialect {
  readonly etherType: number;
  /** Multicast MAC addresses that the link must let through. */
  readonly groups: readonly Buffer[];
  /** A classic BPF program that lets every answer through, and little else. */
  readonly filter: Buffer;
  readonly probe: Buffer;
  readonly gatewayRequest: Buffer | null;
  readonly announcement: Buffer;
  /** Null for frames that prove nothing, and for our own. */
  read(frame: Buffer): Sighting | null;
}

export interface Questions {
  readonly mac: Buffer;
  readonly address: Address;
  readonly gateway: Address | null;
}
