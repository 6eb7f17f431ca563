import type { Address } from '#pkg/ip/address.ts';
import { fromAddressBytes, toAddressBytes } from './address-bytes.ts';
import { buildEthernet, ETHER_TYPE, parseEthernet } from './ethernet-frame.ts';
import { buildIcmpv6, type Icmpv6Packet, parseIcmpv6 } from './icmpv6-packet.ts';
import { ALL_NODES, isMulticast, multicastMac, solicitedNode } from './ipv6-multicast.ts';
import { formatMac } from './mac-address.ts';
import { buildOption, NDP_OPTION, type NdpOptions, parseOptions } from './ndp-options.ts';

const SOLICITATION = 135;
const ADVERTISEMENT = 136;
const FIXED = 24;
const SOLICITED = 0x40000000;
const OVERRIDE = 0x20000000;
const NO_ADDRESS: Address = { family: 6, value: 0n };

export interface NdpMessage {
  readonly isAdvertisement: boolean;
  readonly source: Address;
  readonly target: Address;
  /** From the link-layer option if there is one, else from the frame. */
  readonly mac: string;
  readonly nonce: Buffer | null;
}

/** RFC 4862, 5.4.2, with the nonce of RFC 7527, which identifies a looped-back copy. */
export function buildNdpProbe(mac: Buffer, address: Address, nonce: Buffer): Buffer {
  return buildSolicitation(mac, NO_ADDRESS, address, buildOption(NDP_OPTION.nonce, nonce));
}

export function buildNdpSolicitation(mac: Buffer, sender: Address, target: Address): Buffer {
  return buildSolicitation(mac, sender, target, buildOption(NDP_OPTION.sourceMac, mac));
}

/** RFC 4861, 7.2.6: unsolicited and overriding, to all nodes. */
export function buildNdpAnnouncement(mac: Buffer, address: Address): Buffer {
  const message = buildMessage(ADVERTISEMENT, OVERRIDE, address, buildOption(NDP_OPTION.targetMac, mac));
  return buildNdp(mac, { source: address, destination: ALL_NODES, message });
}

/** Null for every packet that a node must silently discard (RFC 4861, 7.1). */
export function parseNdp(frame: Buffer): NdpMessage | null {
  const ethernet = parseEthernet(frame);
  if (ethernet?.etherType !== ETHER_TYPE.ipv6) return null;
  const packet = parseIcmpv6(ethernet.payload);
  if (packet === null || packet.message.length < FIXED) return null;
  const { source, message } = packet;
  const target = fromAddressBytes(6, message.subarray(8, FIXED));
  const options = parseOptions(message.subarray(FIXED));
  if (options === null || !isSound(packet, target, options)) return null;
  const isAdvertisement = message.readUInt8(0) === ADVERTISEMENT;
  const mac = options.get(isAdvertisement ? NDP_OPTION.targetMac : NDP_OPTION.sourceMac) ?? ethernet.source;
  const nonce = options.get(NDP_OPTION.nonce) ?? null;
  return { isAdvertisement, source, target, mac: formatMac(mac.subarray(0, 6)), nonce };
}

function isSound({ source, destination, message }: Icmpv6Packet, target: Address, options: NdpOptions): boolean {
  const type = message.readUInt8(0);
  if (message.readUInt8(1) !== 0 || isMulticast(target)) return false;
  if (type === ADVERTISEMENT) return !isMulticast(destination) || (message.readUInt32BE(4) & SOLICITED) === 0;
  if (type !== SOLICITATION) return false;
  if (source.value !== NO_ADDRESS.value) return true;
  return destination.value === solicitedNode(target).value && !options.has(NDP_OPTION.sourceMac);
}

function buildSolicitation(mac: Buffer, source: Address, target: Address, option: Buffer): Buffer {
  const message = buildMessage(SOLICITATION, 0, target, option);
  return buildNdp(mac, { source, destination: solicitedNode(target), message });
}

function buildMessage(type: number, flags: number, target: Address, option: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt8(type, 0);
  head.writeUInt32BE(flags, 4);
  return Buffer.concat([head, toAddressBytes(target), option]);
}

function buildNdp(mac: Buffer, packet: Icmpv6Packet): Buffer {
  return buildEthernet(multicastMac(packet.destination), mac, ETHER_TYPE.ipv6, buildIcmpv6(packet));
}
