import type { Address } from '#pkg/ip/address.ts';
import { toAddressBytes } from './address-bytes.ts';
import { assemble, type BpfStep, PACKET_TYPE_AT } from './bpf-program.ts';

const OTHER_HOST = 3;
const END: readonly BpfStep[] = [{ label: 'drop' }, { give: 'nothing' }, { label: 'take' }, { give: 'whole-frame' }];

/**
 * The kernel removes the tag of an unknown VLAN before the frame arrives here, and only marks the frame "for another host":
 * without this test a host of another VLAN would look like one on our link.
 */
const FOR_THIS_HOST: readonly BpfStep[] = [
  { load: 'word', at: PACKET_TYPE_AT },
  { test: 'at-least', value: OTHER_HOST, yes: 'drop' },
];

/** Frames sent by the address or by the gateway, and probes (sender 0.0.0.0) for the address. */
export function arpFilter(address: Address, gateway: Address | null): Buffer {
  return assemble([
    ...FOR_THIS_HOST,
    { load: 'word', at: 14 },
    { test: 'equals', value: 0x0001_0800, no: 'drop' },
    { load: 'half', at: 18 },
    { test: 'equals', value: 0x0604, no: 'drop' },
    { load: 'word', at: 28 },
    { test: 'equals', value: Number(address.value), yes: 'take' },
    ...(gateway === null ? [] : [{ test: 'equals', value: Number(gateway.value), yes: 'take' } as const]),
    { test: 'equals', value: 0, no: 'drop' },
    { load: 'word', at: 38 },
    { test: 'equals', value: Number(address.value), yes: 'take' },
    ...END,
  ]);
}

/** Solicitations and advertisements whose target is the address or the gateway. */
export function ndpFilter(address: Address, gateway: Address | null): Buffer {
  return assemble([
    ...FOR_THIS_HOST,
    { load: 'half', at: 20 },
    { test: 'equals', value: 0x3aff, no: 'drop' },
    { load: 'byte', at: 54 },
    { test: 'equals', value: 135, yes: 'target' },
    { test: 'equals', value: 136, no: 'drop' },
    { label: 'target' },
    ...targetIs(address, gateway === null ? 'drop' : 'gateway'),
    { label: 'gateway' },
    ...(gateway === null ? [] : targetIs(gateway, 'drop')),
    ...END,
  ]);
}

function targetIs(address: Address, no: string): BpfStep[] {
  const bytes = toAddressBytes(address);
  return [0, 4, 8, 12].flatMap((at): BpfStep[] => [
    { load: 'word', at: 62 + at },
    { test: 'equals', value: bytes.readUInt32BE(at), no, ...(at === 12 ? { yes: 'take' } : {}) },
  ]);
}
