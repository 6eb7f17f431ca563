import { IpamError } from '#pkg/errors/ipam-error.ts';
import { decodeRecordSpec, newSpecProblem } from '#pkg/record/decode-record.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { amendProblem, takeOverProblem } from '#pkg/record/transitions.ts';
import type { CreateOutcome, Ledger, RecordQuery, ReleaseOutcome, TakenAddress, UpdateOutcome } from './ledger.ts';
import type { OnPoolChange } from './pool-change.ts';
import { PoolWatchers } from './pool-watchers.ts';
import type { RecordStore } from './record-store.ts';
import { storeCreate, storeRelease, storeUpdate } from './store-write.ts';

/** `submit` resolves once the write is durable, or rejects and nothing was written. */
export interface Commits {
  submit<T>(write: () => T): Promise<T>;
  flush(): void;
}

/** The ledger of one process: the rules on top of a store. */
export class LocalLedger implements Ledger, AsyncDisposable {
  readonly #records: RecordStore;
  readonly #commits: Commits;
  readonly #now: () => Date;
  readonly #watchers = new PoolWatchers();
  #isClosed = false;

  constructor(records: RecordStore, commits: Commits, now: () => Date) {
    this.#records = records;
    this.#commits = commits;
    this.#now = now;
  }

  async create(spec: RecordSpec): Promise<CreateOutcome> {
    refuse('create', spec, newSpecProblem(spec));
    const decoded = decodeRecordSpec(spec);
    return this.#write((records) => storeCreate(records, decoded, this.#now()));
  }

  async takeOver(seen: IpRecord, next: RecordSpec): Promise<UpdateOutcome> {
    refuse('take over', next, takeOverProblem(seen.spec, next));
    return this.#update(seen, next);
  }

  async amend(seen: IpRecord, next: RecordSpec): Promise<UpdateOutcome> {
    refuse('amend', next, amendProblem(seen.spec, next));
    return this.#update(seen, next);
  }

  async release(seen: IpRecord): Promise<ReleaseOutcome> {
    const outcome = await this.#write((records) => storeRelease(records, seen));
    const { name, uid, spec } = seen;
    if (outcome.done) this.#watchers.notify(spec.pool.name, { kind: 'freed', name, uid });
    return outcome;
  }

  async get(name: string): Promise<IpRecord | null> {
    return this.#open().get(name);
  }

  async byHolder(key: string): Promise<IpRecord[]> {
    return this.#open().byHolder(key);
  }

  async byNode(node: string): Promise<IpRecord[]> {
    return this.#open().byNode(node);
  }

  async list(query: RecordQuery): Promise<IpRecord[]> {
    return this.#open().list(query);
  }

  async takenOf(pool: string): Promise<TakenAddress[]> {
    return this.#open().takenOf(pool);
  }

  watchPool(pool: string, onChange: OnPoolChange): Disposable {
    this.#open();
    return this.#watchers.watch(pool, onChange);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#commits.flush();
    this.#records.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #update(seen: IpRecord, next: RecordSpec): Promise<UpdateOutcome> {
    const spec = decodeRecordSpec(next);
    const outcome = await this.#write((records) => storeUpdate(records, seen, spec));
    if (outcome.done && spec.state === 'Suspect') {
      this.#watchers.notify(spec.pool.name, { kind: 'suspect', name: seen.name });
    }
    return outcome;
  }

  async #write<T>(write: (records: RecordStore) => T): Promise<T> {
    const records = this.#open();
    return this.#commits.submit(() => write(records));
  }

  #open(): RecordStore {
    if (this.#isClosed) throw new IpamError('internal', 'the ledger was used after it was closed');
    return this.#records;
  }
}

function refuse(wish: string, spec: RecordSpec, problem: string | null): void {
  if (problem !== null) throw new IpamError('internal', `will not ${wish} the record of ${spec.address}: ${problem}`);
}
