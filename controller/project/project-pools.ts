import type { ObjectView } from '#controller/cluster-view/object-view.ts';
import { type Enqueue, type ReconcilerContext, startReconciler } from '#controller/reconcile/reconciler.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { planPoolStatus } from './plan-pool-status.ts';
import { changedNames, type PoolReadings } from './pool-catalog.ts';
import { PoolTally } from './pool-tally.ts';
import type { RecordsView } from './records-view.ts';

export interface ProjectPoolsOptions extends ReconcilerContext {
  readonly records: RecordsView;
  readonly pools: ObjectView;
  readonly reserved: ObjectView;
  readonly subnets: ObjectView;
  readonly catalog: PoolReadings;
  /** The interval grows with it: every agent watches pools, so each status write is an event on every node. */
  readonly nodeCount: () => number;
  readonly debounceMs?: number;
}

const DEBOUNCE_MS = 1_000;
const NODES_PER_SECOND = 100;
/** The key of a pass over all overlaps; no pool can have this name. */
const OVERLAPS = '*';

/** Keeps the status of every pool equal to the records, with at most one write per pool and interval. Repairs what other clients write there. */
export function projectPools(options: ProjectPoolsOptions): AsyncDisposable {
  const { client, now, records, pools, reserved, subnets, catalog, nodeCount, debounceMs = DEBOUNCE_MS } = options;
  const writtenAtMs = new Map<string, number>();
  let marked: Readonly<Record<'pools' | 'subnets', ReadonlyMap<string, string>>> = {
    pools: new Map(),
    subnets: new Map(),
  };

  const intervalMs = () => Math.max(debounceMs, (nodeCount() / NODES_PER_SECOND) * 1_000);
  const tooEarlyMs = (name: string) => {
    const atMs = writtenAtMs.get(name);
    return atMs === undefined ? 0 : atMs + intervalMs() - client.timing.nowMs();
  };
  const enqueueOverlaps = (enqueue: Enqueue) => {
    const [pools, subnets] = [catalog.overlaps(), catalog.subnetOverlaps().pools];
    for (const name of [...changedNames(marked.pools, pools), ...changedNames(marked.subnets, subnets)]) enqueue(name);
    marked = { pools, subnets };
  };

  return startReconciler(options, {
    kind: 'pool',
    failed: 'pool status not written',
    debounceMs,
    caches: [records, pools, reserved, subnets],
    watch: (enqueue) => {
      const enqueueAll = () => catalog.names().forEach(enqueue);
      enqueueAll();
      enqueue(OVERLAPS);
      return [
        records.onChange(({ before, after }) => {
          for (const record of [before, after]) if (record !== null) enqueue(record.spec.pool.name);
        }),
        pools.onChange(({ name }) => {
          enqueue(name);
          enqueue(OVERLAPS);
        }),
        reserved.onChange(enqueueAll),
        subnets.onChange(() => enqueue(OVERLAPS)),
      ];
    },
    reconcile: async (name, { enqueue, write }) => {
      if (name === OVERLAPS) return void enqueueOverlaps(enqueue);
      const found = catalog.find(name);
      if (found === null) return void writtenAtMs.delete(name);
      const earlyMs = tooEarlyMs(name);
      if (earlyMs > 0) return earlyMs;
      const { object, facts } = found;
      const tally = await PoolTally.inSlices(facts, records.walkPool(name));
      const status = planPoolStatus(tally, object['status'], now());
      if (status === null) return undefined;
      const { uid, resourceVersion } = object.metadata;
      const next = { metadata: { name, uid, resourceVersion }, status };
      const { requeueMs } = await write(`the status of pool ${name}`, () => {
        writtenAtMs.set(name, client.timing.nowMs());
        return client.update(POOLS, next, { subresource: 'status' });
      });
      return requeueMs;
    },
  });
}
