import type { IpRecord } from '#pkg/record/ip-record.ts';
import { NameIndex } from './name-index.ts';
import { RetainedOrder } from './retained-order.ts';

/** A record as this leader knows it. */
export interface KnownRecord {
  readonly record: IpRecord;
  /** When this leader first saw this resourceVersion, on the monotonic clock. */
  readonly firstSeenMs: number;
  /** As they are stored; they may be wrong. */
  readonly labels: Readonly<Record<string, string>>;
}

/** All records, found by name, address, holder, node and pool. */
export class RecordTable {
  readonly #byName = new Map<string, KnownRecord>();
  readonly #byAddress = new NameIndex();
  readonly #byHolder = new NameIndex();
  readonly #byNode = new NameIndex();
  readonly #byPool = new NameIndex();
  readonly #retained = new RetainedOrder();

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): KnownRecord | null {
    return this.#byName.get(name) ?? null;
  }

  names(): string[] {
    return [...this.#byName.keys()];
  }

  all(): IterableIterator<KnownRecord> {
    return this.#byName.values();
  }

  /** The records of the address in all domains. */
  ofAddress(address: string): KnownRecord[] {
    return this.#known(this.#byAddress.get(address));
  }

  namesOfHolder(namespace: string, name: string): Iterable<string> {
    return this.#byHolder.get(`${namespace}/${name}`);
  }

  namesOfNode(node: string): Iterable<string> {
    return this.#byNode.get(node);
  }

  /** How many records of its namespace became Retained before this one. */
  retainedBefore(record: IpRecord): number {
    return this.#retained.countBefore(record);
  }

  /** Pools that do not exist any more are in it too. */
  poolNames(): Iterable<string> {
    return this.#byPool.keys();
  }

  ofPool(pool: string): KnownRecord[] {
    return this.#known(this.#byPool.get(pool));
  }

  namesOfPool(pool: string): string[] {
    return [...this.#byPool.get(pool)];
  }

  put(known: KnownRecord): KnownRecord | null {
    const { name } = known.record;
    const before = this.remove(name);
    this.#byName.set(name, known);
    this.#retained.put(known.record);
    for (const [index, key] of this.#places(known)) index.add(key, name);
    return before;
  }

  remove(name: string): KnownRecord | null {
    const known = this.get(name);
    if (known === null) return null;
    this.#byName.delete(name);
    this.#retained.remove(known.record);
    for (const [index, key] of this.#places(known)) index.remove(key, name);
    return known;
  }

  #places({ record: { spec } }: KnownRecord): readonly (readonly [NameIndex, string])[] {
    const { holder } = spec;
    return [
      [this.#byAddress, spec.address],
      [this.#byHolder, `${holder.namespace}/${holder.name}`],
      [this.#byNode, holder.node],
      [this.#byPool, spec.pool.name],
    ];
  }

  #known(names: Iterable<string>): KnownRecord[] {
    return [...names].flatMap((name) => this.#byName.get(name) ?? []);
  }
}
