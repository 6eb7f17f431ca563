import type { Address } from '#pkg/ip/address.ts';

const SOLICITED_NODE = 0xff02_0000_0000_0000_0000_0001_ff00_0000n;
const LOW_24_BITS = 0xffffffn;

export const ALL_NODES: Address = { family: 6, value: 0xff02_0000_0000_0000_0000_0000_0000_0001n };

/** RFC 4291, 2.7.1. */
export function solicitedNode({ value }: Address): Address {
  return { family: 6, value: SOLICITED_NODE | (value & LOW_24_BITS) };
}

export function isMulticast({ value }: Address): boolean {
  return value >> 120n === 0xffn;
}

/** RFC 2464, 7: 33:33 and the last four bytes of the group. */
export function multicastMac({ value }: Address): Buffer {
  const mac = Buffer.from('333300000000', 'hex');
  mac.writeUInt32BE(Number(value & 0xffffffffn), 2);
  return mac;
}
