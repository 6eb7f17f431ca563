import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { isHeldState } from '#pkg/record/ip-record.ts';
import type { RecordInSubnet, SubnetPool, SubnetSituation } from './subnet-situation.ts';

/** The records of a subnet by the pools they belong to. */
export class RecordsOfSubnet {
  /** Addresses with a record that the ranges of its own pool do not protect. */
  readonly outside: IntervalSet;
  readonly #situation: SubnetSituation;
  readonly #byPool: ReadonlyMap<string, readonly RecordInSubnet[]>;

  constructor(situation: SubnetSituation) {
    this.#situation = situation;
    this.#byPool = Map.groupBy(situation.records, ({ pool }) => pool);
    const ranges = new Map(situation.pools.map(({ pool }) => [pool.name, pool.addresses]));
    this.outside = toSet(situation.records.filter(({ pool, value }) => ranges.get(pool)?.contains(value) !== true));
  }

  isHeld(pool: string): boolean {
    return this.#of(pool).some(({ state }) => isHeldState(state));
  }

  /** Addresses of a pool that can be given to its pods: not reserved, not at fault, not with a holder of another pool, and the subnet's. */
  usableOf({ pool }: SubnetPool): IntervalSet {
    const faulty = this.#of(pool.name).filter(({ state }) => state === 'Quarantined' || state === 'Suspect');
    return pool.addresses
      .intersect(this.#situation.subnet.addresses)
      .subtract(this.#situation.reserved)
      .subtract(this.outside)
      .subtract(toSet(faulty));
  }

  /** Without any record, so that the pool can lose them. */
  unusedOf({ pool }: SubnetPool): IntervalSet {
    return pool.addresses.subtract(toSet(this.#of(pool.name))).subtract(this.outside);
  }

  #of(pool: string): readonly RecordInSubnet[] {
    return this.#byPool.get(pool) ?? [];
  }
}

function toSet(records: readonly RecordInSubnet[]): IntervalSet {
  return IntervalSet.of(records.map(({ value }) => ({ first: value, last: value })));
}
