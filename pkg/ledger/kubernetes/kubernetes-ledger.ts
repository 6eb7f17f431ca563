import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { DefiniteOptions } from '#pkg/kube/write/definite-write.ts';
import type {
  CreateLimits,
  CreateOutcome,
  Ledger,
  RecordQuery,
  ReleaseOutcome,
  TakenAddress,
  UpdateOutcome,
  WriteLimits,
} from '#pkg/ledger/ledger.ts';
import type { OnPoolChange } from '#pkg/ledger/pool-change.ts';
import { decodeRecordSpec, newSpecProblem } from '#pkg/record/decode-record.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { amendProblem, takeOverProblem } from '#pkg/record/transitions.ts';
import { listRecords, type OnUnreadable } from './kubernetes-list.ts';
import { RecordReader } from './kubernetes-reader.ts';
import { takenIn } from './kubernetes-table.ts';
import { KubernetesWatchers, type OnWatchTrouble } from './kubernetes-watchers.ts';
import { createRecord, releaseRecord, updateRecord } from './kubernetes-write.ts';

export interface KubernetesLedgerOptions {
  /** How long a read may take, and a write that was given no deadline. */
  readonly timeoutMs?: number;
  /** How long one try may take; the rest of the time is for others, over a new connection. */
  readonly attemptTimeoutMs?: number;
  /** What keeps a pool's watch from standing; it is tried again without end while a caller waits. */
  readonly onWatchTrouble?: OnWatchTrouble;
  /** A list goes on without such a record, and reports it each time. */
  readonly onUnreadable?: OnUnreadable;
}

const TIMEOUT_MS = 10_000;
const ATTEMPT_TIMEOUT_MS = 5_000;

/** The ledger of a cluster: a record is an IPRecord, and the API server's unique names make the addresses unique. The client stays the caller's. */
export function openKubernetesLedger(client: KubeClient, options: KubernetesLedgerOptions = {}): Ledger {
  return new KubernetesLedger(client, options);
}

class KubernetesLedger implements Ledger {
  readonly #client: KubeClient;
  readonly #timeoutMs: number;
  readonly #attemptTimeoutMs: number;
  readonly #reader: RecordReader;
  readonly #watchers: KubernetesWatchers;
  readonly #onUnreadable: OnUnreadable;
  #isClosed = false;

  constructor(client: KubeClient, options: KubernetesLedgerOptions) {
    this.#client = client;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#attemptTimeoutMs = options.attemptTimeoutMs ?? ATTEMPT_TIMEOUT_MS;
    this.#reader = new RecordReader(client, { timeoutMs: this.#timeoutMs, attemptTimeoutMs: this.#attemptTimeoutMs });
    this.#onUnreadable = options.onUnreadable ?? (() => {});
    this.#watchers = new KubernetesWatchers(client, options.onWatchTrouble ?? (() => {}));
  }

  async create(spec: RecordSpec, limits: CreateLimits = {}): Promise<CreateOutcome> {
    refuse('create', spec, newSpecProblem(spec));
    const { tellsHolder = true } = limits;
    return await createRecord(this.#open(), decodeRecordSpec(spec), { ...this.#until(limits), tellsHolder });
  }

  async takeOver(seen: IpRecord, next: RecordSpec, limits: WriteLimits = {}): Promise<UpdateOutcome> {
    refuse('take over', next, takeOverProblem(seen.spec, next));
    return this.#update(seen, next, limits);
  }

  async amend(seen: IpRecord, next: RecordSpec, limits: WriteLimits = {}): Promise<UpdateOutcome> {
    refuse('amend', next, amendProblem(seen.spec, next));
    return this.#update(seen, next, limits);
  }

  async release(seen: IpRecord, limits: WriteLimits = {}): Promise<ReleaseOutcome> {
    return releaseRecord(this.#open(), seen, this.#until(limits));
  }

  async get(name: string): Promise<IpRecord | null> {
    this.#open();
    return this.#reader.get(name);
  }

  async byHolder(key: string): Promise<IpRecord[]> {
    this.#open();
    return this.#reader.byHolder(key);
  }

  async byNode(node: string): Promise<IpRecord[]> {
    this.#open();
    return this.#reader.byNode(node);
  }

  async list(query: RecordQuery): Promise<IpRecord[]> {
    this.#open();
    return listRecords(this.#reader, query, this.#onUnreadable);
  }

  async takenOf(pool: string): Promise<TakenAddress[]> {
    this.#open();
    const table = await this.#watchers.read(pool, () => this.#reader.table(pool));
    return takenIn(table, pool);
  }

  watchPool(pool: string, onChange: OnPoolChange): Disposable {
    this.#open();
    return this.#watchers.watch(pool, onChange);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#watchers[Symbol.asyncDispose]();
  }

  async #update(seen: IpRecord, next: RecordSpec, limits: WriteLimits): Promise<UpdateOutcome> {
    return await updateRecord(this.#open(), seen, decodeRecordSpec(next), this.#until(limits));
  }

  #until({ deadlineMs, signal }: WriteLimits): DefiniteOptions {
    return {
      deadlineMs: deadlineMs ?? this.#client.timing.nowMs() + this.#timeoutMs,
      attemptTimeoutMs: this.#attemptTimeoutMs,
      ...(signal === undefined ? {} : { signal }),
    };
  }

  #open(): KubeClient {
    if (this.#isClosed) throw new IpamError('internal', 'the ledger was used after it was closed');
    return this.#client;
  }
}

function refuse(wish: string, spec: RecordSpec, problem: string | null): void {
  if (problem !== null) throw new IpamError('internal', `will not ${wish} the record of ${spec.address}: ${problem}`);
}
