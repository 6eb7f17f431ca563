import { type Address, addressBits, type Family } from '#pkg/ip/address.ts';

/** Network order: 4 bytes or 16. */
export function toAddressBytes({ family, value }: Address): Buffer {
  return Buffer.from(value.toString(16).padStart(addressBits(family) / 4, '0'), 'hex');
}

export function fromAddressBytes(family: Family, bytes: Buffer): Address {
  return { family, value: BigInt(`0x${bytes.toString('hex')}`) };
}
