import type { Holder, IpRecord } from '#pkg/crd/ip-record.ts';

export type HolderName = Pick<Holder, 'kind' | 'namespace' | 'name'>;

const NONE: ReadonlyMap<string, IpRecord> = new Map();

/** Records by name, by pool and by holder. The spec decides where a record belongs, never its labels. */
export class RecordIndex {
  readonly #byName = new Map<string, IpRecord>();
  readonly #byPool = new Map<string, Map<string, IpRecord>>();
  readonly #byHolder = new Map<string, Map<string, IpRecord>>();

  get size(): number {
    return this.#byName.size;
  }

  /** What the name stood for before. */
  put(record: IpRecord): IpRecord | null {
    const before = this.remove(record.name);
    this.#byName.set(record.name, record);
    place(this.#byPool, record.spec.pool.name, record);
    place(this.#byHolder, holderText(record.spec.holder), record);
    return before;
  }

  remove(name: string): IpRecord | null {
    const record = this.#byName.get(name);
    if (record === undefined) return null;
    this.#byName.delete(name);
    displace(this.#byPool, record.spec.pool.name, name);
    displace(this.#byHolder, holderText(record.spec.holder), name);
    return record;
  }

  all(): Iterable<IpRecord> {
    return this.#byName.values();
  }

  ofPool(pool: string): IpRecord[] {
    return [...(this.#byPool.get(pool) ?? NONE).values()];
  }

  ofHolder(holder: HolderName): IpRecord[] {
    return [...(this.#byHolder.get(holderText(holder)) ?? NONE).values()];
  }
}

/** None of the parts can contain a slash. */
function holderText({ kind, namespace, name }: HolderName): string {
  return `${kind}/${namespace}/${name}`;
}

function place(index: Map<string, Map<string, IpRecord>>, key: string, record: IpRecord): void {
  const records = index.get(key) ?? new Map<string, IpRecord>();
  index.set(key, records.set(record.name, record));
}

function displace(index: Map<string, Map<string, IpRecord>>, key: string, name: string): void {
  const records = index.get(key);
  records?.delete(name);
  if (records?.size === 0) index.delete(key);
}
