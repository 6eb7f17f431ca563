import { Listeners } from '#controller/cluster-view/listeners.ts';
import type { RecordChange, RecordsView } from '#controller/project/records-view.ts';
import type { Holder, IpRecord } from '#pkg/record/ip-record.ts';

/** For tests: the cache of records of a leader, whose watch can be held. */
export class MemoryRecords implements RecordsView {
  readonly synced = Promise.resolve();
  readonly #known = new Map<string, IpRecord>();
  readonly #changes = new Listeners<RecordChange>();
  readonly #late: (() => void)[] = [];
  #isHeld = false;

  put(after: IpRecord): void {
    this.#deliver(() => {
      const before = this.get(after.name);
      this.#known.set(after.name, after);
      this.#changes.tell({ before, after });
    });
  }

  drop(name: string): void {
    this.#deliver(() => {
      const before = this.get(name);
      this.#known.delete(name);
      if (before !== null) this.#changes.tell({ before, after: null });
    });
  }

  /** From now on nothing is heard of records. */
  hold(): void {
    this.#isHeld = true;
  }

  letGo(): void {
    this.#isHeld = false;
    for (const deliver of this.#late.splice(0)) deliver();
  }

  get(name: string): IpRecord | null {
    return this.#known.get(name) ?? null;
  }

  all(): Iterable<IpRecord> {
    return this.#known.values();
  }

  ofPool(pool: string): IpRecord[] {
    return [...this.#known.values()].filter(({ spec }) => spec.pool.name === pool);
  }

  poolNames(): Iterable<string> {
    return new Set([...this.#known.values()].map(({ spec }) => spec.pool.name));
  }

  walkPool(pool: string): Iterable<IpRecord> {
    return this.ofPool(pool);
  }

  ofHolder({ kind, namespace, name }: Pick<Holder, 'kind' | 'namespace' | 'name'>): IpRecord[] {
    const isOwn = ({ spec: { holder } }: IpRecord) =>
      holder.kind === kind && holder.namespace === namespace && holder.name === name;
    return [...this.#known.values()].filter(isOwn);
  }

  onChange(listener: (change: RecordChange) => void): Disposable {
    return this.#changes.add(listener);
  }

  onRestored(): Disposable {
    return { [Symbol.dispose]() {} };
  }

  #deliver(run: () => void): void {
    if (this.#isHeld) this.#late.push(run);
    else run();
  }
}
