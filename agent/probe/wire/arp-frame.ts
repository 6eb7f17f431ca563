import type { Address } from '#pkg/ip/address.ts';
import { fromAddressBytes, toAddressBytes } from './address-bytes.ts';
import { buildEthernet, ETHER_TYPE, parseEthernet } from './ethernet-frame.ts';
import { BROADCAST_MAC, formatMac, NO_MAC } from './mac-address.ts';

/** Hardware Ethernet, protocol IPv4, addresses of 6 and 4 bytes: the only ARP there is on an underlay. */
const ETHERNET_IPV4 = Buffer.from('000108000604', 'hex');
const LENGTH = 28;
const REQUEST = 1;
const REPLY = 2;
const NO_ADDRESS: Address = { family: 4, value: 0n };

export interface ArpMessage {
  readonly isReply: boolean;
  readonly senderMac: string;
  readonly sender: Address;
  readonly target: Address;
}

/** RFC 5227, 2.1.1: the sender is 0.0.0.0, so that the question does not change the ARP cache of any host. */
export function buildArpProbe(mac: Buffer, address: Address): Buffer {
  return buildArpRequest(mac, NO_ADDRESS, address);
}

export function buildArpRequest(mac: Buffer, sender: Address, target: Address): Buffer {
  const operation = Buffer.from([0, REQUEST]);
  const message = [ETHERNET_IPV4, operation, mac, toAddressBytes(sender), NO_MAC, toAddressBytes(target)];
  return buildEthernet(BROADCAST_MAC, mac, ETHER_TYPE.arp, Buffer.concat(message));
}

/** RFC 5227, 2.3: a request that names its own sender. */
export function buildArpAnnouncement(mac: Buffer, address: Address): Buffer {
  return buildArpRequest(mac, address, address);
}

/** Null for everything that is not a whole, untagged ARP request or reply for IPv4. */
export function parseArp(frame: Buffer): ArpMessage | null {
  const ethernet = parseEthernet(frame);
  if (ethernet?.etherType !== ETHER_TYPE.arp) return null;
  const { payload } = ethernet;
  if (payload.length < LENGTH || !payload.subarray(0, 6).equals(ETHERNET_IPV4)) return null;
  const operation = payload.readUInt16BE(6);
  if (operation !== REQUEST && operation !== REPLY) return null;
  return {
    isReply: operation === REPLY,
    senderMac: formatMac(payload.subarray(8, 14)),
    sender: fromAddressBytes(4, payload.subarray(14, 18)),
    target: fromAddressBytes(4, payload.subarray(24, 28)),
  };
}
