import type { CatalogSnapshot } from '#agent/sources/pool-catalog.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { type Address, type Family, formatAddress } from '#pkg/ip/address.ts';
import { cidrContains, formatCidr, parseAddressWithPrefix } from '#pkg/ip/cidr.ts';
import type { Objected } from '#pkg/pool/objections.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { describeHolder, type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';

/** An address that the runtime or a person asked for by its number. */
export interface RequestedAddress {
  readonly pool: Pool;
  readonly value: bigint;
}

/** The candidate pools of one family. */
export interface FamilyPools {
  readonly family: Family;
  /** In the order in which they are tried. */
  readonly pools: readonly Pool[];
  readonly objected: readonly Objected[];
}

/** Finds the pool of each address that was asked for. An address that no candidate may give is refused, and said why. */
export function placeRequested(
  texts: readonly string[],
  families: readonly FamilyPools[],
  snapshot: CatalogSnapshot,
): Map<Family, RequestedAddress> {
  const placed = new Map<Family, RequestedAddress>();
  for (const text of texts) {
    const { address, prefix } = parseAddressWithPrefix(text);
    const before = placed.get(address.family);
    if (before !== undefined) {
      if (before.value === address.value) continue;
      throw refused(
        `two IPv${address.family} addresses are asked for, ${formatAddress({ ...address, value: before.value })} and ${formatAddress(address)}: one per interface is possible`,
      );
    }
    const pool = findPool(address, families);
    refuseReserved(address, snapshot);
    if (prefix !== null && prefix !== pool.subnet.prefix) {
      throw refused(`${text} is asked for, but pool ${pool.name} has prefix length /${pool.subnet.prefix}`);
    }
    placed.set(address.family, { pool, value: address.value });
  }
  return placed;
}

/** A repeated ADD that asks for another address than it holds is a contradiction, not a move. */
export function refuseOtherAddress(
  families: readonly { readonly family: Family; readonly requested: RequestedAddress | null }[],
  held: readonly IpRecord[],
): void {
  for (const record of held) {
    const requested = families.find(({ family }) => family === recordFamily(record))?.requested;
    if (requested === undefined || requested === null) continue;
    const address = formatAddress({ family: requested.pool.family, value: requested.value });
    if (address === record.spec.address) continue;
    throw refused(`${address} is asked for, but this interface already holds ${record.spec.address}`);
  }
}

function findPool(address: Address, families: readonly FamilyPools[]): Pool {
  const name = formatAddress(address);
  const plan = families.find((it) => it.family === address.family);
  if (plan === undefined)
    throw refused(`${name} is asked for, but no IPv${address.family} pool is a candidate for this call`);
  const pool = plan.pools.find((it) => it.addresses.contains(address.value));
  if (pool !== undefined) return pool;
  const barred = plan.objected.find((it) => it.pool.addresses.contains(address.value));
  if (barred !== undefined)
    throw refused(`${name} is asked for, but its pool ${barred.pool.name} may not be used: ${barred.objection.text}`);
  const candidates = [...plan.pools, ...plan.objected.map((it) => it.pool)];
  const near = candidates.find((it) => cidrContains(it.subnet, address));
  if (near !== undefined)
    throw refused(`${name} is in the subnet of pool ${near.name}, but not among the addresses it may give`);
  const where = candidates.map((it) => `${it.name} (${formatCidr(it.subnet)})`).join(', ');
  throw refused(`${name} is asked for, but it is outside every candidate pool: ${where || 'there is none yet'}`);
}

function refuseReserved(address: Address, snapshot: CatalogSnapshot): void {
  const by = snapshot.reservedIps.find(
    (it) => it.family === address.family && !it.isTerminating && it.addresses.contains(address.value),
  );
  if (by !== undefined)
    throw refused(`${formatAddress(address)} is asked for, but SpiderReservedIP ${by.name} reserves it`);
}

export function takenError(address: Address, holder: IpRecord | null): IpamError {
  const by = holder === null ? '' : ` by ${describeHolder(holder)}`;
  return refused(`${formatAddress(address)} is asked for, but it is taken${by}`);
}

function refused(message: string): IpamError {
  return new IpamError('address-refused', message);
}
