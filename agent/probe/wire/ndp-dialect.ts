import { ndpFilter } from './bpf-filter.ts';
import type { Dialect, Questions, Sighting } from './dialect.ts';
import { ETHER_TYPE } from './ethernet-frame.ts';
import { multicastMac, solicitedNode } from './ipv6-multicast.ts';
import { formatMac } from './mac-address.ts';
import { buildNdpAnnouncement, buildNdpProbe, buildNdpSolicitation, parseNdp } from './ndp-frame.ts';

/** `nonce` is 6 random bytes. */
export function ndpDialect({ mac, address, gateway }: Questions, nonce: Buffer): Dialect {
  const ownMac = formatMac(mac);
  return {
    etherType: ETHER_TYPE.ipv6,
    // A host that probes at the same time sends to this group only. Answers go to all-nodes, which is always joined.
    groups: [multicastMac(solicitedNode(address))],
    filter: ndpFilter(address, gateway),
    probe: buildNdpProbe(mac, address, nonce),
    gatewayRequest: gateway === null ? null : buildNdpSolicitation(mac, address, gateway),
    announcement: buildNdpAnnouncement(mac, address),
    read: (frame) => readNdp(frame, ownMac, nonce, address.value, gateway?.value),
  };
}

/** RFC 4862, 5.4.3 and 5.4.4. A solicitation with a source address is a lookup, not a probe. */
function readNdp(
  frame: Buffer,
  ownMac: string,
  ownNonce: Buffer,
  address: bigint,
  gateway: bigint | undefined,
): Sighting | null {
  const message = parseNdp(frame);
  if (message === null || message.mac === ownMac) return null;
  const { isAdvertisement, source, target, mac, nonce } = message;
  const isForeignProbe = !isAdvertisement && source.value === 0n && !(nonce?.equals(ownNonce) ?? false);
  if (target.value === address) return isAdvertisement || isForeignProbe ? { of: 'address', mac } : null;
  return isAdvertisement && target.value === gateway ? { of: 'gateway', mac } : null;
}
