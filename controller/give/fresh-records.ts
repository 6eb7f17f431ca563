import type { RecordsView } from '#controller/project/records-view.ts';
import { isOlder } from '#pkg/kube/objects/kube-object.ts';
import type { Holder, IpRecord } from '#pkg/record/ip-record.ts';

interface OwnWrite {
  readonly record: IpRecord;
  readonly isGone: boolean;
  readonly untilMs: number;
}

const KEEP_MS = 30_000;
const MOST_UNCONFIRMED = 10_000;

/** The cache of records together with own writes that it does not show yet. */
export class FreshRecords implements Disposable {
  readonly #view: RecordsView;
  readonly #nowMs: () => number;
  readonly #own = new Map<string, OwnWrite>();
  /** Records that we wrote and that no watch has shown in time. They may exist, but are not counted as held. */
  readonly #unconfirmed = new Map<string, IpRecord>();
  readonly #subscription: Disposable;

  constructor(view: RecordsView, nowMs: () => number) {
    this.#view = view;
    this.#nowMs = nowMs;
    this.#subscription = view.onChange(({ before, after }) => this.#forget(before, after));
  }

  get(name: string): IpRecord | null {
    const cached = this.#view.get(name);
    const own = this.#own.get(name);
    if (own === undefined) return cached;
    if (own.untilMs < this.#nowMs()) {
      this.#doubt(own);
      return cached;
    }
    if (!isNews(own, cached)) return cached;
    return own.isGone ? null : own.record;
  }

  /** The records of a holder that pass `isOwn`, which must compare kind, namespace and name itself. */
  ofHolder(holder: Pick<Holder, 'kind' | 'namespace' | 'name'>, isOwn: (record: IpRecord) => boolean): IpRecord[] {
    const cached = this.#view.ofHolder(holder).map((record) => record.name);
    const written = [...this.#own].filter(([, { record }]) => isOwn(record)).map(([it]) => it);
    return [...new Set([...cached, ...written])].flatMap((it) => this.get(it) ?? []).filter(isOwn);
  }

  /** The records of a pool, with those that we wrote and no watch has shown. */
  *walkPool(pool: string): Generator<IpRecord> {
    yield* this.#view.walkPool(pool);
    const written = [...this.#own.values()].filter(({ isGone }) => !isGone).map(({ record }) => record);
    for (const record of [...written, ...this.#unconfirmed.values()]) if (record.spec.pool.name === pool) yield record;
  }

  /** What has to be read before it is certain that the holder has no record. Empty unless the watch is late by more than 30 s. */
  unconfirmed(isOwn: (record: IpRecord) => boolean): IpRecord[] {
    for (const [, own] of this.#own) if (own.untilMs < this.#nowMs()) this.#doubt(own);
    return [...this.#unconfirmed.values()].filter(isOwn);
  }

  wrote(record: IpRecord): void {
    this.#note(record, false);
  }

  released(record: IpRecord): void {
    this.#note(record, true);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  /** The event of a write may come before its answer. */
  #note(record: IpRecord, isGone: boolean): void {
    const own = { record, isGone, untilMs: this.#nowMs() + KEEP_MS };
    if (isNews(own, this.#view.get(record.name))) this.#own.set(record.name, own);
    else this.#own.delete(record.name);
    this.#unconfirmed.delete(record.name);
  }

  #doubt(own: OwnWrite): void {
    const { name } = own.record;
    this.#own.delete(name);
    if (own.isGone || !isNews(own, this.#view.get(name))) return;
    if (this.#unconfirmed.size >= MOST_UNCONFIRMED) this.#unconfirmed.clear();
    this.#unconfirmed.set(name, own.record);
  }

  #forget(before: IpRecord | null, after: IpRecord | null): void {
    const name = (after ?? before)?.name ?? '';
    const doubted = this.#unconfirmed.get(name);
    // The end of an earlier record of that name says nothing of ours.
    if (doubted !== undefined && (after ?? before)?.uid === doubted.uid) this.#unconfirmed.delete(name);
    const own = this.#own.get(name);
    if (own === undefined) return;
    const isLate = after === null ? !own.isGone && own.record.uid !== before?.uid : isNews(own, after);
    if (!isLate) this.#own.delete(own.record.name);
  }
}

function isNews({ record, isGone }: OwnWrite, cached: IpRecord | null): boolean {
  if (isGone) return cached?.uid === record.uid;
  return cached === null || isOlder(cached.resourceVersion, record.resourceVersion);
}
