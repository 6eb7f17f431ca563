import type { Address } from '#pkg/ip/address.ts';
import { fromAddressBytes, toAddressBytes } from './address-bytes.ts';

const HEADER = 40;
const ICMPV6 = 58;
/** The hop limit of RFC 4861, 7.1: a router would have lowered it, so the sender is on this link. */
const HOP_LIMIT = 255;

export interface Icmpv6Packet {
  readonly source: Address;
  readonly destination: Address;
  readonly message: Buffer;
}

/** The checksum field of `message`, bytes 2 and 3, must be zero. */
export function buildIcmpv6({ source, destination, message }: Icmpv6Packet): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt8(0x60, 0);
  header.writeUInt16BE(message.length, 4);
  header.writeUInt8(ICMPV6, 6);
  header.writeUInt8(HOP_LIMIT, 7);
  const packet = Buffer.concat([header, toAddressBytes(source), toAddressBytes(destination), message]);
  packet.writeUInt16BE(checksum(packet), HEADER + 2);
  return packet;
}

/** Null unless it is a whole ICMPv6 packet from this link with a right checksum and no extension header. */
export function parseIcmpv6(bytes: Buffer): Icmpv6Packet | null {
  if (bytes.length < HEADER || bytes.readUInt8(0) >> 4 !== 6) return null;
  if (bytes.readUInt8(6) !== ICMPV6 || bytes.readUInt8(7) !== HOP_LIMIT) return null;
  const end = HEADER + bytes.readUInt16BE(4);
  if (end > bytes.length) return null;
  const packet = bytes.subarray(0, end);
  if (checksum(packet) !== 0) return null;
  return {
    source: fromAddressBytes(6, packet.subarray(8, 24)),
    destination: fromAddressBytes(6, packet.subarray(24, 40)),
    message: packet.subarray(HEADER),
  };
}

/** RFC 8200, 8.1, over both addresses, length, protocol and message; 0 if the message contains its correct checksum. */
function checksum(packet: Buffer): number {
  let sum = packet.length - HEADER + ICMPV6;
  for (let at = 8; at < packet.length; at += 2) {
    sum += at + 1 < packet.length ? packet.readUInt16BE(at) : packet.readUInt8(at) << 8;
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
