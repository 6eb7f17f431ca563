import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import { inSlices } from '#pkg/kube/watch/in-slices.ts';
import { type IpRecord, type RecordState, recordFamily } from '#pkg/record/ip-record.ts';
import { usableAddresses } from '#pkg/record/pool-summary.ts';
import { isHeld, recordValue } from '#pkg/record/record-value.ts';
import { MOST_ENTRIES } from './allocated-ips.ts';
import type { PoolFacts } from './pool-conditions.ts';

/** What the records of one pool add up to. They are added one by one, so that a large pool can be counted in slices. */
export class PoolTally {
  readonly facts: PoolFacts;
  /** The addresses that can be given out at all; null: the pool cannot be read. */
  readonly usable: IntervalSet | null;
  /** All records. */
  readonly byState = new Map<RecordState, number>();
  /** The records of usable addresses. */
  readonly takenByState = new Map<RecordState, number>();
  /** Held records with an address that is not in the pool. */
  readonly outside: IpRecord[] = [];
  #taken = 0;
  #heldCount = 0;
  readonly #held: IpRecord[] = [];

  private constructor(facts: PoolFacts) {
    this.facts = facts;
    this.usable = facts.pool === null ? null : usableAddresses(facts.pool, facts.reserved);
  }

  static of(facts: PoolFacts, records: Iterable<IpRecord>): PoolTally {
    const tally = new PoolTally(facts);
    for (const record of records) tally.#add(record);
    return tally;
  }

  static async inSlices(facts: PoolFacts, records: Iterable<IpRecord>): Promise<PoolTally> {
    const tally = new PoolTally(facts);
    await inSlices(records, (record) => tally.#add(record));
    return tally;
  }

  get heldCount(): number {
    return this.#heldCount;
  }

  /** Null: more than are shown. */
  get held(): readonly IpRecord[] | null {
    return this.#heldCount > MOST_ENTRIES ? null : this.#held;
  }

  /** How many usable addresses are in no record. */
  get available(): bigint {
    return this.usable === null ? 0n : this.usable.size - BigInt(this.#taken);
  }

  #add(record: IpRecord): void {
    const { state, domain } = record.spec;
    increase(this.byState, state);
    const isHolding = isHeld(record);
    if (isHolding) {
      this.#heldCount += 1;
      if (this.#heldCount <= MOST_ENTRIES) this.#held.push(record);
    }
    const { pool } = this.facts;
    if (pool === null) return;
    const value = recordValue(record);
    const isOfPool = recordFamily(record) === pool.family && domain === pool.domain;
    if (isHolding && !(isOfPool && pool.addresses.contains(value))) this.outside.push(record);
    if (!isOfPool || this.usable?.contains(value) !== true) return;
    this.#taken += 1; // within one domain each address has one record
    increase(this.takenByState, state);
  }
}

function increase(counts: Map<RecordState, number>, state: RecordState): void {
  counts.set(state, (counts.get(state) ?? 0) + 1);
}
