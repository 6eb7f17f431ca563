export const BROADCAST_MAC = Buffer.alloc(6, 0xff);
export const NO_MAC = Buffer.alloc(6);

/** Lower case with colons, as `ip link` prints it. */
export function formatMac(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join(':');
}
