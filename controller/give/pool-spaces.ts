import type { PoolFacts } from '#controller/project/pool-conditions.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import type { Address } from '#pkg/ip/address.ts';
import { FreeSpace } from '#pkg/ip/free-space.ts';
import type { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';
import { usableAddresses } from '#pkg/record/pool-summary.ts';
import { recordName } from '#pkg/record/record-metadata.ts';
import { recordedAddresses, recordValue } from '#pkg/record/record-value.ts';

/** The numbers that objects show, so that they are in use although they have no record just now. */
export interface ShownNumbers {
  has(pool: string, value: bigint): boolean;
}

interface Space {
  readonly pool: Pool;
  readonly usable: IntervalSet;
  readonly free: FreeSpace;
}

/** What looks free in each pool that is asked for. It may be wrong in both directions: the create decides (rule 1). */
export class PoolSpaces {
  readonly #records: Pick<RecordsView, 'get' | 'ofPool'>;
  readonly #shown: ShownNumbers;
  readonly #spaces = new Map<string, Space>();
  /** The records that are being created by us, and whether another holder's record of that name came and went meanwhile. */
  readonly #underWay = new Map<string, { cameBack: boolean }>();

  constructor(records: Pick<RecordsView, 'get' | 'ofPool'>, shown: ShownNumbers) {
    this.#records = records;
    this.#shown = shown;
  }

  total(facts: PoolFacts): bigint {
    return this.#of(facts)?.usable.size ?? 0n;
  }

  /** Addresses that a record of another pool has, or that an object shows, are found out here, when they are the lowest. */
  freeCount(facts: PoolFacts): bigint {
    const space = this.#of(facts);
    if (space === null) return 0n;
    this.#lowest(space);
    return space.free.size;
  }

  /** The lowest free address. No other object gets it before it is settled. */
  choose(facts: PoolFacts): Address | null {
    const space = this.#of(facts);
    const value = space === null ? null : this.#lowest(space);
    if (space === null || value === null) return null;
    const address = { family: space.pool.family, value };
    space.free.take(value);
    this.#underWay.set(recordName(address, space.pool.domain), { cameBack: false });
    return address;
  }

  /** How the create of a chosen address ended. The record of another holder is in the cache by now, or its event is on the way. */
  settle({ name, domain }: Pool, address: Address, ending: 'ours' | 'theirs' | 'failed'): void {
    const record = recordName(address, domain);
    const cameBack = this.#underWay.get(record)?.cameBack === true;
    this.#underWay.delete(record);
    const space = this.#spaces.get(name);
    const isFree = ending === 'failed' || (ending === 'theirs' && cameBack);
    if (isFree && space?.usable.contains(address.value) && this.#records.get(record) === null) {
      space.free.give(address.value);
    }
  }

  /** The pools where an address came back. */
  follow(before: IpRecord | null, after: IpRecord | null): string[] {
    const record = after ?? before;
    if (record === null) return [];
    const concerned = [...this.#spaces].filter(([, space]) => has(space, record));
    if (after !== null) {
      for (const [, { free }] of concerned) free.take(recordValue(after));
      return [];
    }
    const underWay = this.#underWay.get(record.name);
    if (underWay !== undefined) {
      underWay.cameBack = true;
      return [];
    }
    return concerned.filter(([, { free }]) => free.give(recordValue(record))).map(([name]) => name);
  }

  /** No object shows it any more. Whether it is free now. */
  reveal(pool: string, value: bigint): boolean {
    const space = this.#spaces.get(pool);
    if (space === undefined || !space.usable.contains(value)) return false;
    const name = recordName({ family: space.pool.family, value }, space.pool.domain);
    return this.#records.get(name) === null && !this.#underWay.has(name) && space.free.give(value);
  }

  /** The pool or the reserved addresses have changed. */
  forget(pool: string): void {
    this.#spaces.delete(pool);
  }

  forgetAll(): void {
    this.#spaces.clear();
  }

  #of({ name, pool, reserved }: PoolFacts): Space | null {
    if (pool === null) return null;
    const known = this.#spaces.get(name);
    if (known?.pool === pool) return known;
    const usable = usableAddresses(pool, reserved);
    const free = new FreeSpace(usable.subtract(recordedAddresses(pool.family, this.#records.ofPool(name))));
    const space = { pool, usable, free };
    this.#spaces.set(name, space);
    return space;
  }

  #lowest({ pool: { name: pool, family, domain }, free }: Space): bigint | null {
    for (let value = free.lowest(); value !== null; value = free.lowest()) {
      const name = recordName({ family, value }, domain);
      const isInUse = this.#records.get(name) !== null || this.#underWay.has(name) || this.#shown.has(pool, value);
      if (!isInUse) return value;
      free.take(value);
    }
    return null;
  }
}

function has({ pool, usable }: Space, record: IpRecord): boolean {
  if (record.spec.domain !== pool.domain || recordFamily(record) !== pool.family) return false;
  return usable.contains(recordValue(record));
}
