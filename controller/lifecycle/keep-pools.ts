import type { ObjectView } from '#controller/project/object-view.ts';
import type { PoolCatalog } from '#controller/project/pool-catalog.ts';
import type { RecordsView } from '#controller/project/records-view.ts';
import { type DutyContext, FailedWrite, NOT_LEADING_MS } from '#controller/reconcile/projection-duty.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { apiVersionOf } from '#pkg/kube/objects/resource.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { WorkQueue } from '#pkg/kube/watch/work-queue.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { isHeldState } from '#pkg/record/states.ts';
import { POOL_CIDR_LABEL } from './cidr-label.ts';
import { countHeld } from './count-held.ts';
import { planUpkeep, withoutFinalizer } from './plan-upkeep.ts';

export interface KeepPoolsOptions extends DutyContext {
  readonly pools: ObjectView;
  readonly catalog: PoolCatalog;
  readonly records: RecordsView;
  readonly ledger: Pick<Ledger, 'takenOf'>;
  readonly events: Events;
}

const DEBOUNCE_MS = 300;
/** Not the name of any pool. */
const OVERLAPS = '*';
/** A record may come back without being told of, and an outage may hide it. */
const LOOK_AGAIN_MS = 60_000;

/** Keeps finalizer, family and label on pools, tells of later pools that overlap, and lets a pool go when its last address is back. */
export function keepPools(options: KeepPoolsOptions): AsyncDisposable {
  const { client, log, isLeader, pools, catalog, records, ledger, events } = options;
  const told = new Map<string, string>();

  const tellOverlap = (name: string): void => {
    const overlap = catalog.overlaps().get(name);
    const object = pools.get({ name });
    if (overlap === undefined || object === null) return void told.delete(name);
    const what = `${object.metadata.uid} ${overlap}`;
    if (told.get(name) === what) return;
    told.set(name, what);
    log.warn({ pool: name, overlap }, 'a pool overlaps an earlier one and is not used');
    const message = `${overlap}; the earlier pool has them, and nothing is given out from this one`;
    const regarding = {
      apiVersion: apiVersionOf(POOLS),
      kind: POOLS.kind,
      namespace: '',
      name,
      uid: object.metadata.uid,
    };
    events.tell({ regarding, type: 'Warning', reason: 'Overlap', note: message });
  };

  const reconcile = async (name: string): Promise<number | undefined> => {
    if (name === OVERLAPS)
      return void [...catalog.overlaps().keys()].filter((other) => !told.has(other)).forEach(touch);
    const object = pools.get({ name });
    if (object === null) return void told.delete(name);
    if (!isLeader()) return NOT_LEADING_MS;
    const isTerminating = object.metadata.deletionTimestamp !== undefined;
    if (!isTerminating) tellOverlap(name);
    const next = isTerminating ? withoutFinalizer(object) : planUpkeep(object, POOL_CIDR_LABEL);
    if (next === null) return undefined;
    // Never from the view: an address that was taken a moment ago must hold the pool.
    if (isTerminating && (await countHeld(ledger, name)) > 0) return LOOK_AGAIN_MS;
    if (!isLeader()) return NOT_LEADING_MS;
    const written = await client.update(POOLS, next);
    if (written.ok || written.because === 'NotFound') {
      if (isTerminating) log.info({ pool: name }, 'the last address is back: the pool is let go');
      return undefined;
    }
    if (written.because === 'Conflict') return DEBOUNCE_MS;
    throw new FailedWrite(`pool ${name}`, written);
  };

  const queue = new WorkQueue({
    reconcile,
    onTrouble: (pool, thrown, retryInMs) => log.warn({ pool, err: thrown, retryInMs }, 'pool not kept'),
  });
  const touch = (name: string) => queue.addAfter(name, DEBOUNCE_MS);
  const stack = new AsyncDisposableStack();
  stack.use(queue);
  const listen = () => {
    stack.use(
      pools.onChange(({ name }) => {
        touch(name);
        touch(OVERLAPS);
      }),
    );
    stack.use(
      records.onChange(({ before, after }) => {
        if (before !== null && after === null) touch(before.spec.pool.name);
        else if (after !== null && !isHeldState(after.spec.state)) touch(after.spec.pool.name);
      }),
    );
    catalog.names().forEach(touch);
  };
  void pools.synced.then(
    () => void (stack.disposed || listen()),
    () => {}, // stopped before
  );
  return { [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
