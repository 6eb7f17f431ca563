import { addressBits, formatAddress, tryParseAddress } from '#pkg/ip/address.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Holder, RecordSpec } from '#pkg/record/ip-record.ts';
import { DEFAULT_DOMAIN, recordName } from '#pkg/record/record-metadata.ts';
import type { AdoptedPod } from './adopted-pod.ts';
import type { LegacyClaim } from './legacy-claims.ts';

export interface AdoptionWorld {
  readonly claims: readonly LegacyClaim[];
  readonly pools: ReadonlyMap<string, Pool>;
  /** Names of all records. */
  readonly records: ReadonlySet<string>;
  /** By `namespace/name`. */
  readonly pods: ReadonlyMap<string, AdoptedPod>;
}

export interface AdoptionPlan {
  readonly create: readonly RecordSpec[];
  /** Addresses that more than one holder claims, one line each. No pod gets another address because of this. */
  readonly collisions: readonly string[];
}

const MACHINE = 'VirtualMachineInstance';
/** The uid of a pod that was gone before the import. Without a uid, the next pod of that name would count as the holder. */
const UID_OF_THE_GONE = 'unknown';
/** An endpoint has the kind of the owner but not its group. For these kinds there is only one. */
const BUILT_IN: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  DaemonSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  Job: 'batch/v1',
  CronJob: 'batch/v1',
  [MACHINE]: 'kubevirt.io/v1',
};

/** The records that are missing for the addresses that Spiderpool gave out. */
export function planAdoption(world: AdoptionWorld): AdoptionPlan {
  const byRecord = Map.groupBy(world.claims, (claim) => recordName(claim.address, domainOf(claim, world)));
  const create: RecordSpec[] = [];
  const collisions: string[] = [];
  for (const [name, claims] of byRecord) {
    const holders = new Set(claims.map(({ namespace, name: pod }) => `${namespace}/${pod}`));
    if (holders.size > 1) collisions.push(`${name} is claimed by ${[...holders].sort().join(' and ')}`);
    if (!world.records.has(name)) create.push(toSpec(claims, world));
  }
  return { create, collisions: collisions.sort() };
}

/** The status of the pool decides who holds the address. The endpoint of that holder has the other fields. */
function toSpec(claims: readonly LegacyClaim[], world: AdoptionWorld): RecordSpec {
  const claim = claims.find(({ by }) => by === 'pool') ?? (claims[0] as LegacyClaim);
  const detail = claims.find(
    (it) => it.by === 'endpoint' && it.namespace === claim.namespace && it.name === claim.name,
  );
  const pool = world.pools.get(claim.pool);
  const gateway = gatewayOf(claim, detail, pool);
  const routes = (detail === undefined ? pool?.routes : detail.routes) ?? [];
  return {
    address: formatAddress(claim.address),
    prefix: pool?.subnet.prefix ?? addressBits(claim.address.family),
    ...(gateway === null ? {} : { gateway }),
    domain: domainOf(claim, world),
    pool: { kind: 'SpiderIPPool', name: claim.pool === '' ? 'unknown' : claim.pool, uid: pool?.uid ?? '' },
    state: 'Allocated',
    holder: toHolder(claim, detail, world),
    ...(routes.length === 0 ? {} : { routes }),
    ...(detail?.cleanGateway === true ? { cleanGateway: true } : {}),
  };
}

function toHolder(claim: LegacyClaim, detail: LegacyClaim | undefined, world: AdoptionWorld): Holder {
  const pod = world.pods.get(`${claim.namespace}/${claim.name}`);
  const owner = pod === undefined ? ownerOf(detail) : pod.owner;
  const kind = detail?.ownerKind === MACHINE ? MACHINE : 'Pod';
  const statedUid = claim.uid === '' ? (detail?.uid ?? '') : claim.uid;
  const own = kind === 'Pod' ? holderAmong(pod, statedUid) : undefined;
  const uid = statedUid === '' && kind === 'Pod' ? (own?.uid ?? UID_OF_THE_GONE) : statedUid;
  return {
    kind,
    namespace: claim.namespace,
    name: claim.name,
    ...(uid === '' ? {} : { uid }),
    interface: detail?.interface ?? 'eth0',
    attachGeneration: 1,
    node: own?.node ?? detail?.node ?? '',
    ...(owner === null ? {} : { owner }),
  };
}

/**
 * The pod with the name of the holder, if it is the holder. Without a known uid, any pod with a node counts as the holder: its DEL
 * returns an address that it does not have, but an address that it has must never look like a leak.
 */
function holderAmong(pod: AdoptedPod | undefined, statedUid: string): AdoptedPod | undefined {
  if (pod === undefined || pod.node === '') return undefined;
  return statedUid === '' || statedUid === pod.uid ? pod : undefined;
}

function ownerOf(detail: LegacyClaim | undefined): AdoptedPod['owner'] {
  const { ownerKind: kind = '', ownerName: name = '' } = detail ?? {};
  const apiVersion = BUILT_IN[kind];
  return apiVersion === undefined || name === '' ? null : { apiVersion, kind, name };
}

function gatewayOf({ address }: LegacyClaim, detail: LegacyClaim | undefined, pool: Pool | undefined): string | null {
  const stated = tryParseAddress(detail?.gateway ?? '');
  if (stated?.family === address.family) return formatAddress(stated);
  return pool === undefined || pool.gateway === null ? null : formatAddress(pool.gateway);
}

function domainOf({ pool }: LegacyClaim, { pools }: AdoptionWorld): string {
  return pools.get(pool)?.domain ?? DEFAULT_DOMAIN;
}
