import type { RecordQuery, TakenAddress } from '#pkg/ledger/ledger.ts';
import { type Commits, LocalLedger } from '#pkg/ledger/local-ledger.ts';
import type { RecordStore } from '#pkg/ledger/record-store.ts';
import { toTaken } from '#pkg/ledger/taken-address.ts';
import { holderKey, type IpRecord, recordFamily } from '#pkg/record/ip-record.ts';

/** For tests: not persistent, but with the same decisions as the other ledgers. */
export function createMemoryLedger(options: { now?: () => Date } = {}): LocalLedger {
  return new LocalLedger(new MemoryStore(), AT_ONCE, options.now ?? (() => new Date()));
}

const AT_ONCE: Commits = { submit: async (write) => write(), flush: () => {} };

class MemoryStore implements RecordStore {
  readonly #records = new Map<string, IpRecord>();
  #version = 0;

  get(name: string): IpRecord | null {
    return this.#records.get(name) ?? null;
  }

  insert(record: IpRecord): void {
    this.#records.set(record.name, record);
  }

  update(record: IpRecord): void {
    this.#records.set(record.name, record);
  }

  delete(name: string): void {
    this.#records.delete(name);
  }

  nextVersion(): string {
    this.#version += 1;
    return String(this.#version);
  }

  byHolder(key: string): IpRecord[] {
    return this.#where((record) => holderKey(record.spec.holder, recordFamily(record)) === key);
  }

  byNode(node: string): IpRecord[] {
    return this.#where(({ spec }) => spec.holder.node === node);
  }

  list({ pool, node, after, limit }: RecordQuery): IpRecord[] {
    return this.#where(
      ({ name, spec }) =>
        (after === undefined || name > after) &&
        (pool === undefined || spec.pool.name === pool) &&
        (node === undefined || spec.holder.node === node),
    ).slice(0, limit);
  }

  takenOf(pool: string): TakenAddress[] {
    return this.#where(({ spec }) => spec.pool.name === pool).map(toTaken);
  }

  close(): void {
    this.#records.clear();
  }

  #where(isWanted: (record: IpRecord) => boolean): IpRecord[] {
    return [...this.#records.values()].filter(isWanted).sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
