import type { ClusterView } from '#controller/cluster-view/cluster-view.ts';
import type { Holder, IpRecord } from '#pkg/record/ip-record.ts';

type HolderName = Pick<Holder, 'kind' | 'namespace' | 'name'>;

/** A record that was created, changed or deleted, before and after. At most one of the two is null. */
export interface RecordChange {
  readonly before: IpRecord | null;
  readonly after: IpRecord | null;
}

/** A cache of the records, fed by a watch. It may lag behind: decisions read the ledger instead. */
export interface RecordsView {
  readonly synced: Promise<void>;
  all(): Iterable<IpRecord>;
  get(name: string): IpRecord | null;
  ofPool(pool: string): readonly IpRecord[];
  /** The pools with records, also those that do not exist any more. */
  poolNames(): Iterable<string>;
  /** Read while it is iterated: a record that changes meanwhile is seen once, before or after its change. */
  walkPool(pool: string): Iterable<IpRecord>;
  ofHolder(holder: HolderName): readonly IpRecord[];
  onChange(listener: (change: RecordChange) => void): Disposable;
  /** Called when etcd was restored from a backup: records of addresses in use may be missing. */
  onRestored(listener: () => void): Disposable;
}

export function recordsOf(view: ClusterView): RecordsView {
  const { records, synced } = view;
  return {
    synced,
    all: () => Array.from(records.all(), ({ record }) => record),
    get: (name) => records.get(name)?.record ?? null,
    ofPool: (pool) => records.ofPool(pool).map(({ record }) => record),
    poolNames: () => records.poolNames(),
    walkPool: function* (pool) {
      for (const name of records.namesOfPool(pool)) {
        const known = records.get(name);
        if (known !== null) yield known.record;
      }
    },
    ofHolder: ({ kind, namespace, name }) =>
      [...records.namesOfHolder(namespace, name)]
        .flatMap((it) => records.get(it)?.record ?? [])
        .filter(({ spec }) => spec.holder.kind === kind),
    onRestored: (listener) => view.restored.add(listener),
    onChange: (listener) =>
      view.subscribe((change) => {
        if (change.of !== 'record') return;
        const { before, now: after } = change;
        if (before !== null || after !== null) listener({ before, after });
      }),
  };
}
