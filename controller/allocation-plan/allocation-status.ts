import { formatAddress } from '#pkg/ip/address.ts';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { StaticNetwork } from '#pkg/vitistack/static-network.ts';

/** The status as it should be. What is left out stays as it is, and null is removed. */
export interface WantedStatus {
  readonly phase: 'Pending' | 'Allocated' | 'Released' | 'Error';
  readonly message: string | null;
  readonly address?: string | null;
  readonly gateway?: string | null;
  readonly prefix?: number | null;
  readonly vlanId?: number | null;
  readonly dns?: readonly string[] | null;
  readonly expiresAt?: string | null;
}

/** A merge patch of `status` with the fields that are wrong. */
export type StatusPatch = Readonly<Record<string, unknown>>;

const LONGEST_MESSAGE = 1_000;

/** The fields of the network in the status of each of its allocations, besides the address. */
export function networkStatus({ pool, gateway, vlanId, dns }: StaticNetwork): Partial<WantedStatus> {
  return { gateway: formatAddress(gateway), prefix: pool.subnet.prefix, vlanId, dns };
}

export const NO_ADDRESS = {
  address: null,
  gateway: null,
  prefix: null,
  vlanId: null,
  dns: null,
  expiresAt: null,
} as const satisfies Partial<WantedStatus>;

/** The fields to write, or null if the status has them already. */
export function planAllocationStatus({ status }: IpAllocation, wanted: WantedStatus): StatusPatch | null {
  const message = wanted.message?.slice(0, LONGEST_MESSAGE) || null;
  const wrong = Object.entries({ ...wanted, message }).filter(([field, value]) => !isEqual(status[field], value));
  return wrong.length === 0 ? null : Object.fromEntries(wrong);
}

function isEqual(stored: unknown, wanted: unknown): boolean {
  return JSON.stringify(stored ?? null) === JSON.stringify(wanted);
}
