import type { NodeIndex } from '#agent/node/node-index.ts';
import type { PoolView } from '#agent/views/pool-view.ts';
import type { PoolViews } from '#agent/views/pool-views.ts';
import type { Timing } from '#pkg/kube/transport/timing.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { PoolChange } from '#pkg/ledger/pool-change.ts';
import { parseRecordName } from '#pkg/record/record-metadata.ts';

/**
 * All nodes that wait for a pool learn of a freed address at the same moment. The first create takes it, and the others learn
 * that from the watch, 20 to 40 ms later. So with this much time for each node most of them never send their create.
 */
const PAUSE_PER_NODE_MS = 50;
const LONGEST_PAUSE_MS = 2_000;
/** A pool is read again when its watch broke, which is when the watches of all nodes break. */
const SHORTEST_READ_PAUSE_MS = 200;
const READ_RETRY_MS = 1_000;

export interface PoolLineDeps {
  readonly ledger: Pick<Ledger, 'watchPool'>;
  readonly views: Pick<PoolViews, 'known'>;
  readonly index: Pick<NodeIndex, 'uidOf'>;
  readonly timing: Pick<Timing, 'setTimer' | 'random'>;
}

export interface PoolLineListener {
  /** The view of the pool has something to give. */
  readonly onFree: () => void;
  /** There is another reason to look at the pool: a Suspect address. */
  readonly onLook: () => void;
}

/** Keeps the view of one full pool current while calls wait for it. What comes back is free after a pause that is longer the more nodes use the pool. */
export class PoolLine implements Disposable {
  readonly #pool: string;
  readonly #deps: PoolLineDeps;
  readonly #listener: PoolLineListener;
  readonly #watch: Disposable;
  /** Addresses that came back, in this order, and how to end their pause. */
  readonly #resting = new Map<bigint, { readonly uid: string; readonly cancel: () => void }>();
  #cancelRead: (() => void) | null = null;
  #isOver = false;

  constructor(pool: string, deps: PoolLineDeps, listener: PoolLineListener) {
    this.#pool = pool;
    this.#deps = deps;
    this.#listener = listener;
    this.#watch = deps.ledger.watchPool(pool, (change) => this.#note(change));
  }

  /** Ends the longest pause; for a call that has no time to wait for it. */
  hurry(): void {
    const [value] = this.#resting.keys();
    if (value !== undefined) this.#free(value);
  }

  /** No call waits any more: the view shows what has come back. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#watch[Symbol.dispose]();
    this.#cancelRead?.();
    for (const value of [...this.#resting.keys()]) this.#free(value);
  }

  #note(change: PoolChange): void {
    if (change.kind === 'unknown') {
      this.#readSoon(this.#pauseMs() + SHORTEST_READ_PAUSE_MS);
      return;
    }
    const view = this.#deps.views.known(this.#pool);
    const value = view === null ? null : valueIn(view, change.name);
    if (view === null || value === null) return;
    this.#endRest(value);
    if (change.kind === 'freed') this.#rest(value, change.uid);
    else view.markTaken(value, change.kind === 'suspect' ? 'Suspect' : change.state);
    if (change.kind === 'suspect') view.suspects.add(value);
    else view.suspects.forget(value);
    if (change.kind === 'suspect') this.#listener.onLook();
  }

  #rest(value: bigint, uid: string): void {
    const pauseMs = this.#pauseMs();
    const cancel = pauseMs === 0 ? () => {} : this.#deps.timing.setTimer(pauseMs, () => this.#free(value));
    this.#resting.set(value, { uid, cancel });
    if (pauseMs === 0) this.#free(value);
  }

  #endRest(value: bigint): { readonly uid: string } | undefined {
    const resting = this.#resting.get(value);
    resting?.cancel();
    this.#resting.delete(value);
    return resting;
  }

  #free(value: bigint): void {
    const rested = this.#endRest(value);
    const view = this.#deps.views.known(this.#pool);
    if (rested === undefined || view === null) return;
    // This node took the address again before the event of its release arrived.
    const own = this.#deps.index.uidOf({ family: view.pool.family, value }, view.pool.domain);
    if (own !== null && own !== rested.uid) return;
    view.markFree(value);
    if (!this.#isOver) this.#listener.onFree();
  }

  #pauseMs(): number {
    const others = (this.#deps.views.known(this.#pool)?.share.of ?? 1) - 1;
    return this.#deps.timing.random() * Math.min(LONGEST_PAUSE_MS, others * PAUSE_PER_NODE_MS);
  }

  #readSoon(pauseMs: number): void {
    this.#cancelRead ??= this.#deps.timing.setTimer(pauseMs, () => {
      this.#cancelRead = null;
      this.#read().catch(() => {
        if (!this.#isOver) this.#readSoon(READ_RETRY_MS + this.#pauseMs());
      });
    });
  }

  async #read(): Promise<void> {
    const view = this.#deps.views.known(this.#pool);
    if (view === null) return;
    await view.reload();
    if (this.#isOver) return;
    this.#listener.onFree();
    if (view.suspects.all.length > 0) this.#listener.onLook();
  }
}

/** Null: it is no address of the pool's kind. One that the pool cannot give now counts: it may be able to later. */
function valueIn({ pool }: PoolView, name: string): bigint | null {
  const named = parseRecordName(name);
  return named?.domain === pool.domain && named.address.family === pool.family ? named.address.value : null;
}
