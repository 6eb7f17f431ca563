import { ALLOWED_NAMESPACES, isNamespaceAllowed, MOST_PER_NAMESPACE } from '#pkg/autopool/subnet-limits.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { MOST_IPS_OF_AUTO_POOL } from '#pkg/pool/subnet-wish.ts';
import { applicationOfPool } from './application-of-pool.ts';
import { dropAddresses } from './drop-addresses.ts';
import { DroppedRanges } from './dropped-ranges.ts';
import { freeOfSubnet } from './free-of-subnet.ts';
import { pickAddresses } from './pick-addresses.ts';
import { RecordsOfSubnet } from './records-of-subnet.ts';
import type { SubnetPool, SubnetSituation, Wanted } from './subnet-situation.ts';

/** The most items of `spec.ips` that the CRD accepts. */
const MOST_RANGES = 1_000;

/** Gives out the free addresses of one subnet, one application after the other. */
export class Allotment {
  readonly #situation: SubnetSituation;
  readonly #records: RecordsOfSubnet;
  readonly #dropped: DroppedRanges;
  /** How many addresses the auto pools of a namespace have, or had until a moment ago; those of deleted applications count too. */
  readonly #heldBy = new Map<string, bigint>();
  /** Pools that could not lose as much as they should. */
  readonly waiting = new Set<string>();
  /** Addresses that no pool has. */
  #left: IntervalSet;
  /** Those of them that were not dropped a moment ago. */
  #free: IntervalSet;

  constructor(situation: SubnetSituation) {
    this.#situation = situation;
    this.#records = new RecordsOfSubnet(situation);
    this.#dropped = new DroppedRanges(situation);
    this.#left = freeOfSubnet(situation, this.#records);
    this.#free = this.#left.subtract(this.#dropped.all);
    for (const { pool } of situation.pools) this.#count(namespaceOf(pool), pool.addresses.size);
    for (const { pool, dropped } of [...situation.pools, ...situation.gone])
      if (pool !== null && !dropped.isEmpty) this.#count(namespaceOf(pool), dropped.intersect(this.#left).size);
  }

  isHeld(pool: string): boolean {
    return this.#records.isHeld(pool);
  }

  /** All addresses that the pool is to have. A text says why it cannot get what is wanted. */
  allot(wanted: Wanted, own: SubnetPool | null): IntervalSet | string {
    const { key, count } = wanted;
    if (key.family !== this.#situation.subnet.family) {
      return `it is named for IPv${key.family}, and is an IPv${this.#situation.subnet.family} subnet`;
    }
    if (count > MOST_IPS_OF_AUTO_POOL) {
      return `it asks for ${count} addresses, one pool has at most ${MOST_IPS_OF_AUTO_POOL}`;
    }
    const has = own?.pool.addresses ?? IntervalSet.EMPTY;
    const missing = BigInt(count) - (own === null ? 0n : this.#records.usableOf(own).size);
    if (missing === 0n && has.isSubsetOf(this.#situation.subnet.addresses) && own !== null) return has;
    if (own !== null && missing <= 0n) return this.#shrink(own, -missing);
    const back = this.#dropped.of(key, own).intersect(this.#left);
    const again = back.size < missing ? back.size : missing;
    return (
      this.#refusal(key.application.namespace, { missing, fresh: missing - again }, own) ??
      this.#grow(wanted, has, { missing, again, back })
    );
  }

  /** First by what it dropped itself: that may be beside what it has, and counts for its namespace already. */
  #grow(
    { key, count }: Wanted,
    has: IntervalSet,
    { missing, again, back }: { readonly missing: bigint; readonly again: bigint; readonly back: IntervalSet },
  ): IntervalSet | string {
    const fresh = missing - again;
    if (this.#free.size < fresh)
      return `required ${missing} more for ${count} in all, left ${this.#free.size + back.size}`;
    // A piece may close each gap of what is there.
    const mostPieces = MOST_RANGES + has.intervals().length;
    const taken = pickAddresses(back, { count: again, mostPieces }, has);
    const more = taken === null ? null : pickAddresses(this.#free, { count: fresh, mostPieces }, has.union(taken));
    const next = taken === null || more === null ? null : has.union(taken).union(more);
    if (next === null || next.intervals().length > MOST_RANGES)
      return `what is free is in too many pieces for ${count} addresses`;
    this.#left = this.#left.subtract(next);
    this.#free = this.#free.subtract(next);
    this.#count(key.application.namespace, fresh);
    return next;
  }

  /** Takes away addresses that the subnet does not have any more, too. Those in use stay. */
  #shrink(own: SubnetPool, excess: bigint): IntervalSet {
    const { addresses } = own.pool;
    const unused = this.#records.unusedOf(own);
    const inside = unused.intersect(this.#records.usableOf(own));
    const outside = unused.subtract(this.#situation.subnet.addresses);
    const dropped = dropAddresses(addresses, inside, { count: excess, mostPieces: MOST_RANGES });
    const isSubnets = addresses.isSubsetOf(this.#situation.subnet.addresses);
    if (dropped.size < excess || !isSubnets) this.waiting.add(own.pool.name);
    return addresses.subtract(dropped).subtract(outside);
  }

  /** `fresh`: what the pools of the namespace did not have a moment ago. */
  #refusal(
    namespace: string,
    { missing, fresh }: { readonly missing: bigint; readonly fresh: bigint },
    own: SubnetPool | null,
  ): string | null {
    const { subnet, limits } = this.#situation;
    if (subnet.isTerminating) return 'the subnet is being deleted';
    if (typeof limits === 'string') return limits;
    if (!isNamespaceAllowed(limits, namespace)) {
      return `namespace ${namespace} may not use the subnet (annotation ${ALLOWED_NAMESPACES})`;
    }
    const { mostPerNamespace } = limits;
    const holds = this.#heldBy.get(namespace) ?? 0n;
    if (mostPerNamespace === null || holds + fresh <= BigInt(mostPerNamespace)) return null;
    const more = own === null ? missing : `${missing} more`;
    return `required ${more}, but the pools of namespace ${namespace} have ${holds} of at most ${mostPerNamespace} addresses (annotation ${MOST_PER_NAMESPACE})`;
  }

  #count(namespace: string | null, addresses: bigint): void {
    if (namespace === null) return;
    this.#heldBy.set(namespace, (this.#heldBy.get(namespace) ?? 0n) + addresses);
  }
}

function namespaceOf(pool: Pool): string | null {
  return applicationOfPool(pool)?.namespace ?? null;
}
