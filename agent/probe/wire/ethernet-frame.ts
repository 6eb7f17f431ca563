export const ETHER_TYPE = { arp: 0x0806, ipv6: 0x86dd } as const;
const ETHERNET_HEADER = 14;

export interface EthernetFrame {
  readonly source: Buffer;
  readonly etherType: number;
  readonly payload: Buffer;
}

export function buildEthernet(destination: Buffer, source: Buffer, etherType: number, payload: Buffer): Buffer {
  const frame = Buffer.alloc(ETHERNET_HEADER + payload.length);
  destination.copy(frame, 0);
  source.copy(frame, 6);
  frame.writeUInt16BE(etherType, 12);
  payload.copy(frame, ETHERNET_HEADER);
  return frame;
}

/** In a frame with a VLAN tag this is the type of the tag. */
export function parseEthernet(frame: Buffer): EthernetFrame | null {
  if (frame.length < ETHERNET_HEADER) return null;
  return {
    source: frame.subarray(6, 12),
    etherType: frame.readUInt16BE(12),
    payload: frame.subarray(ETHERNET_HEADER),
  };
}
