import { buildArpAnnouncement, buildArpProbe, buildArpRequest, parseArp } from './arp-frame.ts';
import { arpFilter } from './bpf-filter.ts';
import type { Dialect, Questions, Sighting } from './dialect.ts';
import { ETHER_TYPE } from './ethernet-frame.ts';
import { formatMac } from './mac-address.ts';

export function arpDialect({ mac, address, gateway }: Questions): Dialect {
  const ownMac = formatMac(mac);
  return {
    etherType: ETHER_TYPE.arp,
    groups: [],
    filter: arpFilter(address, gateway),
    probe: buildArpProbe(mac, address),
    gatewayRequest: gateway === null ? null : buildArpRequest(mac, address, gateway),
    announcement: buildArpAnnouncement(mac, address),
    read: (frame) => readArp(frame, ownMac, address.value, gateway?.value),
  };
}

/** RFC 5227, 2.1.1: a host that sends from the address has it, and a host that probes for it at the same time is about to. */
function readArp(frame: Buffer, ownMac: string, address: bigint, gateway: bigint | undefined): Sighting | null {
  const message = parseArp(frame);
  if (message === null || message.senderMac === ownMac) return null;
  const { isReply, senderMac, sender, target } = message;
  const isProbe = !isReply && sender.value === 0n && target.value === address;
  if (sender.value === address || isProbe) return { of: 'address', mac: senderMac };
  return isReply && sender.value === gateway ? { of: 'gateway', mac: senderMac } : null;
}
