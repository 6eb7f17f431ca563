import type { Address } from '#pkg/ip/address.ts';

/** Proof that another host is there, by one frame of it. */
export interface Sighting {
  readonly of: 'address' | 'gateway';
  readonly mac: string;
}

/** How one family asks on a link, and which frames are an answer. */
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
