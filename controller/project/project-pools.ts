import { type DutyContext, FailedWrite, NOT_LEADING_MS } from '#controller/reconcile/projection-duty.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { WorkQueue } from '#pkg/kube/watch/work-queue.ts';
import type { ObjectView } from './object-view.ts';
import { planPoolStatus } from './plan-pool-status.ts';
import type { PoolCatalog } from './pool-catalog.ts';
import type { RecordsView } from './records-view.ts';

export interface ProjectPoolsOptions extends DutyContext {
  readonly records: RecordsView;
  readonly pools: ObjectView;
  readonly reserved: ObjectView;
  readonly catalog: PoolCatalog;
  /** Each status write travels to every node as an event. */
  readonly nodeCount: () => number;
  readonly debounceMs?: number;
}

const DEBOUNCE_MS = 1_000;
const NODES_PER_SECOND = 100;
/** Not the name of any pool. */
const OVERLAPS = '*';

/** Keeps the status of every pool equal to the records, one write per pool and interval at most. Repairs what others write there. */
export function projectPools(options: ProjectPoolsOptions): AsyncDisposable {
  const { client, log, isLeader, now, records, pools, reserved, catalog, nodeCount } = options;
  const debounceMs = options.debounceMs ?? DEBOUNCE_MS;
  const writtenAtMs = new Map<string, number>();
  let marked: ReadonlyMap<string, string> = new Map();

  const intervalMs = () => Math.max(debounceMs, (nodeCount() / NODES_PER_SECOND) * 1_000);
  const tooEarlyMs = (name: string) => {
    const atMs = writtenAtMs.get(name);
    return atMs === undefined ? 0 : atMs + intervalMs() - client.timing.nowMs();
  };
  const touch = (name: string) => queue.addAfter(name, debounceMs);

  const touchOverlaps = () => {
    const current = catalog.overlaps();
    const names = new Set([...marked.keys(), ...current.keys()]);
    for (const name of names) if (marked.get(name) !== current.get(name)) touch(name);
    marked = current;
  };

  const reconcile = async (name: string): Promise<number | undefined> => {
    if (name === OVERLAPS) return void touchOverlaps();
    const found = catalog.find(name);
    if (found === null) return void writtenAtMs.delete(name);
    const earlyMs = tooEarlyMs(name);
    if (earlyMs > 0) return earlyMs;
    const { object, facts } = found;
    const status = planPoolStatus(facts, records.ofPool(name), object['status'], now());
    if (status === null) return undefined;
    if (!isLeader()) return NOT_LEADING_MS;
    writtenAtMs.set(name, client.timing.nowMs());
    const { uid, resourceVersion } = object.metadata;
    const written = await client.update(
      POOLS,
      { metadata: { name, uid, resourceVersion }, status },
      { subresource: 'status' },
    );
    if (written.ok || written.because === 'NotFound') return undefined;
    if (written.because === 'Conflict') return debounceMs; // the watch is about to tell
    throw new FailedWrite(`the status of pool ${name}`, written);
  };

  const queue = new WorkQueue({
    reconcile,
    onTrouble: (pool, thrown, retryInMs) => log.warn({ pool, err: thrown, retryInMs }, 'pool status not written'),
  });
  const stack = new AsyncDisposableStack();
  stack.use(queue);
  const listen = () => {
    const touchAll = () => catalog.names().forEach(touch);
    stack.use(
      records.onChange(({ before, after }) => {
        for (const record of [before, after]) if (record !== null) touch(record.spec.pool.name);
      }),
    );
    stack.use(
      pools.onChange(({ name }) => {
        touch(name);
        touch(OVERLAPS);
      }),
    );
    stack.use(reserved.onChange(touchAll));
    touchAll();
    touch(OVERLAPS);
  };
  // What is not known yet must not be shown as nothing.
  void Promise.all([records.synced, pools.synced, reserved.synced]).then(
    () => void (stack.disposed || listen()),
    () => {}, // stopped before
  );
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
