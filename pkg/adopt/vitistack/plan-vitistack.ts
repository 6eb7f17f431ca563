import type { AdoptionPlan } from '#pkg/adopt/plan-adoption.ts';
import { addressBits, formatAddress } from '#pkg/ip/address.ts';
import { apiVersionOf } from '#pkg/kube/objects/kube-object.ts';
import { NETWORK_CONFIGURATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import { describeHolder, type IpRecord, type RecordSpec } from '#pkg/record/ip-record.ts';
import { DEFAULT_DOMAIN, recordName } from '#pkg/record/record-metadata.ts';
import type { NetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import { poolNameOf } from '#pkg/vitistack/vitistack-names.ts';
import type { VitistackClaim } from './vitistack-claims.ts';

export interface VitistackWorld {
  readonly claims: readonly VitistackClaim[];
  /** By `namespace/name`. */
  readonly networks: ReadonlyMap<string, NetworkNamespace>;
  /** By name. */
  readonly records: ReadonlyMap<string, IpRecord>;
}

/**
 * The records that are missing for the addresses that static-ip-operator gave out. A record names the IPAllocation as its holder; where
 * there is none yet, without a uid, so that the one which the controller makes finds it. Of several that claim an address the record
 * has it, or else the oldest: no machine gets another address because of this.
 */
export function planVitistack({ claims, networks, records }: VitistackWorld): AdoptionPlan {
  const byRecord = Map.groupBy(claims, (claim) => recordName(claim.address, networkOf(claim, networks).domain));
  const create: RecordSpec[] = [];
  const collisions: string[] = [];
  for (const [name, group] of byRecord) {
    const sorted = group.toSorted(compareClaims);
    const record = records.get(name);
    const strangers = record === undefined ? sorted : sorted.filter((claim) => !isHolder(record, claim));
    const holders = [
      ...(record === undefined || strangers.length === 0 ? [] : [describeHolder(record)]),
      ...new Set(strangers.map(({ source }) => source)),
    ];
    if (holders.length > 1) collisions.push(`${name} is claimed by ${holders.join(' and ')}; the first one has it`);
    const [first] = sorted;
    if (record === undefined && first !== undefined) create.push(toSpec(first, networkOf(first, networks)));
  }
  return { create, collisions: collisions.sort() };
}

/** An object of its own before what only a status says; then the oldest. */
function compareClaims(a: VitistackClaim, b: VitistackClaim): number {
  const rank = (it: VitistackClaim) => `${it.allocation.uid === null ? 1 : 0} ${it.createdAt} ${it.source}`;
  return rank(a) < rank(b) ? -1 : 1;
}

function isHolder({ spec: { holder } }: IpRecord, { namespace, allocation }: VitistackClaim): boolean {
  const isNamed = holder.kind === 'IPAllocation' && holder.namespace === namespace && holder.name === allocation.name;
  return isNamed && (holder.uid === undefined || allocation.uid === null || holder.uid === allocation.uid);
}

interface Network {
  readonly domain: string;
  readonly uid: string;
  readonly prefix: number | null;
  readonly gateway: string | null;
}

/** What is known of a NetworkNamespace that is gone, or that cannot be read, is its name. */
function networkOf(claim: VitistackClaim, networks: VitistackWorld['networks']): Network {
  const found = networks.get(poolName(claim));
  const network = found?.network ?? null;
  return {
    domain: network?.pool.domain ?? DEFAULT_DOMAIN,
    uid: found?.uid ?? '',
    prefix: network?.pool.subnet.prefix ?? null,
    gateway: network === null ? null : formatAddress(network.gateway),
  };
}

function poolName({ namespace, networkNamespace }: VitistackClaim): string {
  return poolNameOf({ namespace, name: networkNamespace === '' ? 'unknown' : networkNamespace });
}

function toSpec(claim: VitistackClaim, { domain, uid, prefix, gateway }: Network): RecordSpec {
  const { address, namespace, allocation, configuration } = claim;
  return {
    address: formatAddress(address),
    prefix: address.family === 4 && prefix !== null ? prefix : addressBits(address.family),
    ...(gateway === null || address.family !== 4 ? {} : { gateway }),
    domain,
    pool: { kind: 'NetworkNamespace', name: poolName(claim), uid },
    state: 'Allocated',
    holder: {
      kind: 'IPAllocation',
      namespace,
      name: allocation.name,
      ...(allocation.uid === null ? {} : { uid: allocation.uid }),
      interface: '',
      attachGeneration: 1,
      node: '',
      owner: {
        apiVersion: apiVersionOf(NETWORK_CONFIGURATIONS),
        kind: NETWORK_CONFIGURATIONS.kind,
        name: configuration,
      },
    },
  };
}
