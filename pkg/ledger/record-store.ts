import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { RecordQuery, TakenAddress } from './ledger.ts';

/** Where a local ledger keeps its records. Synchronous, so nothing comes between a look and the write that rests on it. */
export interface RecordStore {
  get(name: string): IpRecord | null;
  insert(record: IpRecord): void;
  update(record: IpRecord): void;
  delete(name: string): void;
  /** Larger than every version before it, also after deletes and restarts. */
  nextVersion(): string;
  byHolder(key: string): IpRecord[];
  byNode(node: string): IpRecord[];
  list(query: RecordQuery): IpRecord[];
  takenOf(pool: string): TakenAddress[];
  close(): void;
}
