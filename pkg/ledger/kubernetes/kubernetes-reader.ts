import { PassingRefusals } from '#pkg/kube/client/caller.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject, ListQuery } from '#pkg/kube/objects/kube-object.ts';
import type { ObjectTable } from '#pkg/kube/objects/object-table.ts';
import { FAILURES, type Outcome } from '#pkg/kube/objects/outcome.ts';
import { Backoff, pauseAfter, sleep } from '#pkg/kube/transport/timing.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { holderLabel, parseRecordName, RECORD_LABELS, toLabelValue } from '#pkg/record/record-metadata.ts';
import { toLedgerError } from './kubernetes-failure.ts';
import { TABLE_COLUMNS } from './kubernetes-table.ts';
import { IP_RECORDS, isTerminating, mayBeOfHolder, mayBeOfNode, toRecord } from './kubernetes-write.ts';

const ROWS_PER_PAGE = 2_000;
/** While one page after the other comes. A call that has less time does not wait for it; those behind it have its use. */
const LIST_TIMEOUT_MS = 60_000;
const PAUSE = { firstMs: 50, mostMs: 1_000 };

export interface ReadLimits {
  /** After it no other try is made. */
  readonly timeoutMs: number;
  /** The time of one try, and of each page of a list. */
  readonly attemptTimeoutMs: number;
}

/** What is asked for in pages has its time for each of them, and more for all. */
interface PagedOptions {
  readonly timeoutMs: number;
  readonly pageTimeoutMs: number;
}

/**
 * Consistent reads, repeated while the API server is away, or does not know our role yet. A label only finds: the spec of what comes back decides, and it
 * is asked before the rest of it is read, so that the unreadable record of another holder does no harm.
 */
export class RecordReader {
  readonly #client: KubeClient;
  readonly #limits: ReadLimits;

  constructor(client: KubeClient, limits: ReadLimits) {
    this.#client = client;
    this.#limits = limits;
  }

  /** Null where the API server names this very record as missing, where it is being deleted, or no record can have the name. */
  async get(name: string): Promise<IpRecord | null> {
    const object = await this.getObject(name);
    return object === null ? null : toRecord(object);
  }

  /** Like `get`, for who can go on without a record that cannot be read. */
  async getObject(name: string): Promise<KubeObject | null> {
    if (parseRecordName(name) === null) return null;
    const found = await this.#ask((timeoutMs) => this.#client.get(IP_RECORDS, { name }, { timeoutMs }));
    if (found.ok) return isTerminating(found.object) ? null : found.object;
    if (found.because === 'NotFound') return null;
    throw toLedgerError(`read the record ${name}`, found);
  }

  async byHolder(key: string): Promise<IpRecord[]> {
    const objects = await this.#find(`${RECORD_LABELS.holder}=${holderLabel(key)}`);
    return objects.filter((object) => mayBeOfHolder(object, key)).map(toRecord);
  }

  async byNode(node: string): Promise<IpRecord[]> {
    return (await this.objectsOfNode(node)).map(toRecord);
  }

  async objectsOfNode(node: string): Promise<KubeObject[]> {
    const label = RECORD_LABELS.node;
    const objects = await this.#find(node === '' ? `!${label}` : `${label}=${toLabelValue(node)}`);
    return objects.filter((object) => mayBeOfNode(object, node));
  }

  /** Names, pools and states of a pool's records, or of all. In pages: what a large one leaves behind would stay in the heap. */
  async table(pool: string | undefined): Promise<ObjectTable> {
    const query: ListQuery = pool === undefined ? {} : { labelSelector: poolSelector(pool) };
    const listed = await this.#askForPages((options) =>
      this.#client.listTable(IP_RECORDS, query, { ...options, pageSize: ROWS_PER_PAGE, columns: TABLE_COLUMNS }),
    );
    if (listed.ok) return listed.object;
    throw toLedgerError(pool === undefined ? 'list the records' : `list the records of pool ${pool}`, listed);
  }

  async #find(labelSelector: string): Promise<KubeObject[]> {
    const listed = await this.#askForPages((options) => this.#client.list(IP_RECORDS, { labelSelector }, options));
    if (!listed.ok) throw toLedgerError(`list the records with ${labelSelector}`, listed);
    return listed.object.items.filter((object) => !isTerminating(object));
  }

  #askForPages<T>(read: (options: PagedOptions) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const { timing } = this.#client;
    const endsAtMs = timing.nowMs() + Math.max(LIST_TIMEOUT_MS, this.#limits.timeoutMs);
    return this.#ask((pageTimeoutMs) => read({ timeoutMs: endsAtMs - timing.nowMs(), pageTimeoutMs }));
  }

  async #ask<T>(read: (timeoutMs: number) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const { timing } = this.#client;
    const { timeoutMs, attemptTimeoutMs } = this.#limits;
    const deadlineMs = timing.nowMs() + timeoutMs;
    const backoff = new Backoff(PAUSE, timing.random);
    const refusals = new PassingRefusals();
    for (;;) {
      const leftMs = Math.max(1, deadlineMs - timing.nowMs());
      const outcome = await read(Math.min(attemptTimeoutMs, leftMs));
      if (outcome.ok) return outcome;
      const pauseMs = pauseAfter(outcome, backoff.nextMs(), timing.random);
      if (!FAILURES[outcome.because].retry && !refusals.mayPass(outcome, timing.nowMs(), pauseMs)) return outcome;
      if (timing.nowMs() + pauseMs >= deadlineMs) return outcome;
      await sleep(timing, pauseMs);
    }
  }
}

export function poolSelector(pool: string): string {
  return `${RECORD_LABELS.pool}=${toLabelValue(pool)}`;
}
