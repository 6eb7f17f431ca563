import { ALLOWED_NAMESPACES, isNamespaceAllowed, MOST_PER_NAMESPACE } from '#pkg/autopool/subnet-limits.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { affinityApplication } from '#pkg/pool/auto-pool.ts';
import { MOST_IPS_OF_AUTO_POOL } from '#pkg/pool/subnet-wish.ts';
import { dropAddresses } from './drop-addresses.ts';
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
  /** How many addresses the auto pools of a namespace have; those of deleted applications count too. */
  readonly #heldBy = new Map<string, bigint>();
  /** Pools that could not lose as much as they should. */
  readonly waiting = new Set<string>();
  /** Addresses that are free, and were not dropped a moment ago. */
  #free: IntervalSet;

  constructor(situation: SubnetSituation) {
    this.#situation = situation;
    this.#records = new RecordsOfSubnet(situation);
    this.#free = freeOfSubnet(situation, this.#records);
    for (const { pool } of situation.pools) {
      const namespace = pool.auto === null ? null : affinityApplication(pool.podAffinity?.matchLabels ?? {})?.namespace;
      if (namespace) this.#count(namespace, pool.addresses.size);
    }
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
    return this.#refusal(key.application.namespace, missing, own) ?? this.#grow(wanted, has, missing, own);
  }

  #grow({ key, count }: Wanted, has: IntervalSet, missing: bigint, own: SubnetPool | null): IntervalSet | string {
    const free = this.#freeFor(own);
    if (free.size < missing) return `required ${missing} more for ${count} in all, left ${free.size}`;
    // A piece may close each gap of what is there.
    const mostPieces = MOST_RANGES + has.intervals().length;
    const picked = pickAddresses(free, { count: missing, mostPieces }, has);
    const next = picked === null ? null : has.union(picked);
    if (picked === null || next === null || next.intervals().length > MOST_RANGES)
      return `what is free is in too many pieces for ${count} addresses`;
    this.#free = this.#free.subtract(picked);
    this.#count(key.application.namespace, missing);
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

  /** A pool may take back at once what it dropped itself. */
  #freeFor(own: SubnetPool | null): IntervalSet {
    if (own === null || own.dropped.isEmpty) return this.#free;
    const { pools, subnet } = this.#situation;
    const others = pools.map((it) => (it === own ? { ...it, dropped: IntervalSet.EMPTY } : it));
    const within = { ...subnet, addresses: subnet.addresses.intersect(own.dropped) };
    return this.#free.union(freeOfSubnet({ ...this.#situation, pools: others, subnet: within }, this.#records));
  }

  #refusal(namespace: string, missing: bigint, own: SubnetPool | null): string | null {
    const { subnet, limits } = this.#situation;
    if (subnet.isTerminating) return 'the subnet is being deleted';
    if (typeof limits === 'string') return limits;
    if (!isNamespaceAllowed(limits, namespace)) {
      return `namespace ${namespace} may not use the subnet (annotation ${ALLOWED_NAMESPACES})`;
    }
    const { mostPerNamespace } = limits;
    const holds = this.#heldBy.get(namespace) ?? 0n;
    if (mostPerNamespace === null || holds + missing <= BigInt(mostPerNamespace)) return null;
    const more = own === null ? missing : `${missing} more`;
    return `required ${more}, but the pools of namespace ${namespace} have ${holds} of at most ${mostPerNamespace} addresses (annotation ${MOST_PER_NAMESPACE})`;
  }

  #count(namespace: string, addresses: bigint): void {
    this.#heldBy.set(namespace, (this.#heldBy.get(namespace) ?? 0n) + addresses);
  }
}
