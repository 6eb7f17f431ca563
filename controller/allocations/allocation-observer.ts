import { isRecordOfAllocation } from '#controller/allocation-plan/allocation-record.ts';
import type { ObservedAllocation } from '#controller/allocation-plan/observed-allocation.ts';
import type { FreshObjects } from '#controller/give/fresh-objects.ts';
import type { FreshRecords } from '#controller/give/fresh-records.ts';
import { nameHolders } from '#controller/give/name-holders.ts';
import type { PoolSpaces } from '#controller/give/pool-spaces.ts';
import type { RestoreHold } from '#controller/give/restore-hold.ts';
import type { Unserved } from '#controller/give/unserved.ts';
import type { Address } from '#pkg/ip/address.ts';
import { keyOf, nameOfKey } from '#pkg/kube/objects/object-key.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import { type IpAllocation, readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import type { EvenClock } from './even-clock.ts';
import type { GoneConfigurations } from './gone-configurations.ts';
import type { NetworkPools } from './network-pools.ts';
import type { UsedDomains } from './used-domains.ts';

export interface AllocationSources {
  readonly allocations: FreshObjects;
  readonly configurations: GoneConfigurations;
  readonly records: FreshRecords;
  readonly networks: NetworkPools;
  readonly spaces: PoolSpaces;
  readonly unserved: Unserved;
  readonly restore: RestoreHold;
  readonly domains: UsedDomains;
  readonly clock: EvenClock;
  /** The keys of those that the API server refused a write for at the last try. */
  readonly refused: Set<string>;
}

export function readAllocationAt(
  { allocations }: Pick<AllocationSources, 'allocations'>,
  key: string,
): IpAllocation | null {
  const object = allocations.get(nameOfKey(key));
  return object === null ? null : readIpAllocation(object);
}

/** As one of those that ask a pool for an address. */
export function asAsking({ namespace, name, networkNamespace, createdAt }: IpAllocation) {
  return { namespace, name, createdAt, pool: keyOf({ namespace, name: networkNamespace }) };
}

/** All that is known of an IPAllocation now, from caches and own writes. */
export function observeAllocation(sources: AllocationSources, allocation: IpAllocation): ObservedAllocation {
  const { configurations, records, networks, spaces, unserved, restore, clock, domains, refused } = sources;
  const { namespace, networkConfiguration } = allocation;
  const asking = asAsking(allocation);
  const found = networks.find(asking.pool);
  const facts = found?.facts ?? null;
  const domain = facts?.pool?.domain ?? null;
  const configuration = configurations.find({ namespace, name: networkConfiguration });
  const recordAt = (address: Address) => (domain === null ? null : records.get(recordName(address, domain)));
  const total = facts === null ? 0n : spaces.total(facts);
  const own = records.ofHolder({ kind: 'IPAllocation', namespace, name: allocation.name }, (record) =>
    isRecordOfAllocation(record, allocation),
  );
  return {
    allocation,
    network: found?.network ?? null,
    facts,
    configuration:
      configuration === null
        ? null
        : {
            uid: configuration.metadata.uid,
            isDeleting: configuration.metadata.deletionTimestamp !== undefined,
          },
    configurationGoneMs: configurations.goneMs({ namespace, name: networkConfiguration }),
    records: own,
    recordAt,
    isVanished: (record) => {
      const there = readAllocationAt(sources, keyOf(record.spec.holder));
      return there === null || !isRecordOfAllocation(record, there);
    },
    room: {
      hasFree: facts !== null && spaces.freeCount(facts) > BigInt(unserved.countBefore(asking)),
      total,
      holders: () => nameHolders(facts, total, recordAt),
    },
    otherDomain: own.length > 0 || facts?.pool == null ? null : domains.otherThan(facts.pool),
    hold: restore.find()?.why ?? null,
    isRefused: refused.has(keyOf(allocation)),
    evenSince: found === null ? clock.since() : clock.sinceLater(found.ttlSinceMs),
  };
}
