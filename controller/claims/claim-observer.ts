import type { ObservedClaim } from '#controller/claim-plan/observed-claim.ts';
import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import type { FreshObjects } from '#controller/give/fresh-objects.ts';
import type { FreshRecords } from '#controller/give/fresh-records.ts';
import { nameHolders } from '#controller/give/name-holders.ts';
import type { PoolSpaces } from '#controller/give/pool-spaces.ts';
import type { Hold, RestoreHold } from '#controller/give/restore-hold.ts';
import type { Unserved } from '#controller/give/unserved.ts';
import type { PoolReadings } from '#controller/project/pool-catalog.ts';
import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import { isRecordOfClaim } from '#pkg/capi/claim-record.ts';
import { type Claim, readClaim } from '#pkg/capi/read-claim.ts';
import { hasPauseMark } from '#pkg/capi/read-cluster.ts';
import { type MachineAddress, readIpAddress } from '#pkg/capi/read-ip-address.ts';
import type { Address } from '#pkg/ip/address.ts';
import { keyOf, nameOfKey } from '#pkg/kube/objects/object-key.ts';
import { namespaceMismatch } from '#pkg/pool/objections.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import type { ClaimBook } from './claim-book.ts';
import { findMoveHold } from './move-hold.ts';

export interface ClaimSources {
  readonly claims: FreshObjects;
  readonly addresses: FreshObjects;
  readonly records: FreshRecords;
  readonly namespaces: ObjectView;
  readonly catalog: PoolReadings;
  readonly book: ClaimBook;
  readonly spaces: PoolSpaces;
  readonly unserved: Unserved;
  readonly restore: RestoreHold;
  readonly now: () => Date;
}

export function readClaimAt({ claims }: Pick<ClaimSources, 'claims'>, key: string): Claim | null {
  const object = claims.get(nameOfKey(key));
  return object === null ? null : readClaim(object);
}

/** All that is known of a claim now, from caches and own writes. */
export function observe(sources: ClaimSources, claim: Claim): ObservedClaim {
  const { addresses, records, namespaces, catalog, book } = sources;
  const found = catalog.find(claim.pool);
  const object = addresses.get(claim);
  const address = object === null ? null : readIpAddress(object);
  const facts = found?.facts ?? null;
  return {
    claim,
    cluster: book.clusterState(claim),
    pool: facts,
    isArriving: book.arrivesForMs(claim, sources.now()) > 0,
    isPoolPaused: found !== null && hasPauseMark(found.object),
    namespaceLabels: namespaces.get({ name: claim.namespace })?.metadata.labels ?? {},
    address,
    addressRecord: recordOfAddress(records, address, facts?.pool ?? null),
    records: recordsOfClaim(records, claim),
    room: roomFor(sources, claim, facts),
    // Looks at every claim that a move brings, so only where it is asked for.
    get hold() {
      return holdOf(sources, claim)?.why ?? null;
    },
  };
}

function recordsOfClaim(records: FreshRecords, claim: Claim): IpRecord[] {
  const { namespace, name } = claim;
  return records.ofHolder({ kind: 'IPAddressClaim', namespace, name }, (record) => isRecordOfClaim(record, claim));
}

export function recordOfAddress(
  records: Pick<FreshRecords, 'get'>,
  found: MachineAddress | null,
  pool: Pool | null,
): IpRecord | null {
  const address = found?.address ?? null;
  return address === null || pool === null ? null : records.get(recordName(address, pool.domain));
}

export function holdOf(
  {
    book,
    restore,
    catalog,
    namespaces,
    now,
  }: Pick<ClaimSources, 'book' | 'restore' | 'catalog' | 'namespaces' | 'now'>,
  claim: Claim,
): Hold | null {
  const afterRestore = restore.find();
  if (afterRestore !== null) return afterRestore;
  const pool = catalog.find(claim.pool)?.facts.pool ?? null;
  // A claim that may not use the pool must not hold it back from claims that may.
  const expected = book.expected(claim.pool).filter(({ namespace: name }) => {
    const labels = namespaces.get({ name })?.metadata.labels ?? {};
    return pool !== null && namespaceMismatch(pool, { namespace: { name, labels, annotations: {} } }) === null;
  });
  return expected.length === 0 ? null : findMoveHold(claim.pool, keyOf(claim), expected, now());
}

function roomFor(
  { spaces, unserved, records }: ClaimSources,
  claim: Claim,
  facts: PoolFacts | null,
): ObservedClaim['room'] {
  if (facts === null) return { hasFree: false, total: 0n, holders: () => '', waiting: 1 };
  const total = spaces.total(facts);
  const domain = facts.pool?.domain ?? null;
  const recordAt = (address: Address) => (domain === null ? null : records.get(recordName(address, domain)));
  return {
    hasFree: spaces.freeCount(facts) > BigInt(unserved.countBefore(claim)),
    total,
    holders: () => nameHolders(facts, total, recordAt),
    waiting: unserved.countWith(claim),
  };
}
