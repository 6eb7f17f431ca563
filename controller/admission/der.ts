/** The few forms of DER (X.690) that a certificate is written in. */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;
/** From this year on a time has four digits for it (RFC 5280, 4.1.2.5). */
const FIRST_GENERALIZED_YEAR = 2050;

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return element(TAG.sequence, ...parts);
}

export function set(...parts: readonly Uint8Array[]): Buffer {
  return element(TAG.set, ...parts);
}

/** Encodes a number that is not negative, given in big-endian bytes. */
export function derInteger(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first === -1 ? Uint8Array.of(0) : bytes.subarray(first);
  const isNegativeLooking = (digits[0] ?? 0) >= 0x80;
  return element(TAG.integer, ...(isNegativeLooking ? [Uint8Array.of(0)] : []), digits);
}

export function boolean(value: boolean): Buffer {
  return element(TAG.boolean, Uint8Array.of(value ? 0xff : 0));
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(TAG.bitString, Uint8Array.of(unusedBits), bytes);
}

export function octetString(bytes: Uint8Array): Buffer {
  return element(TAG.octetString, bytes);
}

export function utf8String(text: string): Buffer {
  return element(TAG.utf8String, Buffer.from(text, 'utf8'));
}

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAG.objectIdentifier, Uint8Array.from([40 * first + second, ...rest].flatMap(toBase128)));
}

export function time(at: Date): Buffer {
  const digits = `${at.toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
  return at.getUTCFullYear() < FIRST_GENERALIZED_YEAR
    ? element(TAG.utcTime, Buffer.from(digits.slice(2), 'ascii'))
    : element(TAG.generalizedTime, Buffer.from(digits, 'ascii'));
}

/** `[n]` around whole elements. */
export function explicit(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  return element(CONTEXT | CONSTRUCTED | tag, ...parts);
}

/** `[n]` in the place of a primitive's own tag. */
export function implicit(tag: number, content: Uint8Array): Buffer {
  return element(CONTEXT | tag, content);
}

function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Uint8Array.of(tag), toLength(content.length), content]);
}

function toLength(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return Uint8Array.of(0x80 | bytes.length, ...bytes);
}

function toBase128(part: number): number[] {
  const bytes = [part & 0x7f];
  for (let rest = Math.floor(part / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}
