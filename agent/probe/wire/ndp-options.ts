export const NDP_OPTION = { sourceMac: 1, targetMac: 2, nonce: 14 } as const;

/** The options by type, each without its header. */
export type NdpOptions = ReadonlyMap<number, Buffer>;

/** The length of an option is in units of 8 bytes and includes the header. */
export function buildOption(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type, (value.length + 2) / 8]), value]);
}

/** The first option of each type; null where an option has no length or ends outside (RFC 4861, 4.6). */
export function parseOptions(bytes: Buffer): NdpOptions | null {
  const options = new Map<number, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    if (at + 2 > bytes.length) return null;
    const type = bytes.readUInt8(at);
    const end = at + bytes.readUInt8(at + 1) * 8;
    if (end === at || end > bytes.length) return null;
    if (!options.has(type)) options.set(type, bytes.subarray(at + 2, end));
    at = end;
  }
  return options;
}
