const OFFSET_BASIS = 0x6c62272e07bb014262b821756295c58dn;
const PRIME = (1n << 88n) + 0x13bn;

/**
 * FNV-1a with 128 bits, as 32 hexadecimal digits: small, the same everywhere, and long enough that chance makes no two alike. Names
 * can be made up to collide, so whoever finds something by a hash compares the whole.
 */
export function fnvHash(text: string): string {
  let state = OFFSET_BASIS;
  for (const byte of new TextEncoder().encode(text)) state = BigInt.asUintN(128, (state ^ BigInt(byte)) * PRIME);
  return state.toString(16).padStart(32, '0');
}
