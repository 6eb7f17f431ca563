import { setImmediate as turn } from 'node:timers/promises';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { PoolView } from '#agent/views/pool-view.ts';
import type { PoolViews } from '#agent/views/pool-views.ts';
import type { Timing } from '#pkg/kube/transport/timing.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { PoolLine } from './pool-line.ts';

/** An address that is picked for one call. The call takes it with `claim`, or it goes to the next call. */
export interface Offer {
  readonly view: PoolView;
  readonly value: bigint;
}

/** `offer`: an address is picked for this call. `look`: something else changed, such as the pools. */
export type Wake = 'offer' | 'look' | 'timeout' | 'stopping';

export interface FreedWaitersDeps {
  readonly ledger: Pick<Ledger, 'watchPool'>;
  readonly catalog: PoolCatalog;
  readonly views: Pick<PoolViews, 'known' | 'onFree'>;
  readonly index: Pick<NodeIndex, 'uidOf'>;
  readonly most: number;
  readonly timing: Pick<Timing, 'setTimer' | 'random'>;
}

/**
 * The calls that wait for an address of a full pool, a bounded number of them, in the order in which they came. Each address that
 * comes back is offered to the first of them that waits for its pool.
 */
export class FreedWaiters {
  readonly #deps: FreedWaitersDeps;
  readonly #places = new Set<Place>();
  readonly #lines = new Map<string, PoolLine>();
  #isStopped = false;
  #isLooking = false;
  #mustLookAgain = false;

  constructor(deps: FreedWaitersDeps) {
    this.#deps = deps;
    deps.views.onFree((pool) => this.#serve(pool));
    deps.catalog.onChange(() => void this.#lookAtPools());
  }

  get waiting(): number {
    return this.#places.size;
  }

  /** The agent stops: no freed address would be noticed any more. */
  stop(): void {
    this.#isStopped = true;
    for (const place of this.#places) place.wake('stopping');
  }

  /** A place behind all calls that wait; null where too many wait already. */
  join(): Place | null {
    if (this.#isStopped || this.#places.size >= this.#deps.most) return null;
    const place = new Place({
      timing: this.#deps.timing,
      onWait: (pools) => this.#follow(pools),
      onTimeout: (pools) => this.#hurry(pools),
      onLeave: () => {
        this.#places.delete(place);
        this.#endLines();
      },
    });
    this.#places.add(place);
    return place;
  }

  /** Whether the pool has something for this call beyond what those before it wait for. Null: a call that does not wait yet. */
  mayTake({ pool, freeCount }: PoolView, place: Place | null): boolean {
    let ahead = 0n;
    for (const other of this.#places) {
      if (other === place) break;
      if (other.pools.has(pool.name)) ahead += 1n;
    }
    return ahead === 0n || freeCount > ahead;
  }

  /** Watches before it looks, so nothing freed in between is missed. */
  #follow(pools: ReadonlySet<string>): void {
    for (const pool of pools) {
      if (this.#lines.has(pool)) continue;
      const onFree = () => this.#serve(pool);
      const onLook = () => this.#look(pool);
      this.#lines.set(pool, new PoolLine(pool, this.#deps, { onFree, onLook }));
    }
    this.#endLines();
    for (const pool of pools) this.#serve(pool);
  }

  #endLines(): void {
    for (const [pool, line] of this.#lines) {
      if (this.#waitingFor(pool).next().done !== true) continue;
      this.#lines.delete(pool);
      line[Symbol.dispose]();
    }
  }

  #serve(pool: string): void {
    const view = this.#deps.views.known(pool);
    if (view?.isLoaded !== true) return;
    for (const place of this.#waitingFor(pool)) {
      if (!place.isWaiting) continue;
      const value = view.pick();
      if (value === null) return;
      place.offer({ view, value });
    }
  }

  /**
   * The pools have changed. Each call plans anew, which takes about a millisecond where a tenant's patterns stand for many pools: one call
   * has its turn after the other, and whatever else waits in between.
   */
  async #lookAtPools(): Promise<void> {
    this.#mustLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#mustLookAgain) {
      this.#mustLookAgain = false;
      for (const place of [...this.#places]) {
        place.wake('look');
        await turn();
      }
    }
    this.#isLooking = false;
  }

  #look(pool: string): void {
    for (const place of this.#waitingFor(pool)) place.wake('look');
  }

  #hurry(pools: ReadonlySet<string>): void {
    for (const pool of pools) this.#lines.get(pool)?.hurry();
  }

  *#waitingFor(pool: string): Generator<Place> {
    for (const place of this.#places) if (place.pools.has(pool)) yield place;
  }
}

interface PlaceDeps {
  readonly timing: Pick<Timing, 'setTimer'>;
  readonly onWait: (pools: ReadonlySet<string>) => void;
  readonly onTimeout: (pools: ReadonlySet<string>) => void;
  readonly onLeave: () => void;
}

/** The place of one call in the line. The call keeps it while it tries what it was offered, until it leaves. */
export class Place implements Disposable {
  readonly #deps: PlaceDeps;
  #pools: ReadonlySet<string> = new Set();
  #wake: ((wake: Wake) => void) | null = null;
  #offer: Offer | null = null;
  /** What happened while the call was busy. */
  #missed: Wake | null = null;

  constructor(deps: PlaceDeps) {
    this.#deps = deps;
  }

  get pools(): ReadonlySet<string> {
    return this.#pools;
  }

  get isWaiting(): boolean {
    return this.#wake !== null;
  }

  /** A caller that goes away is woken too. */
  async wait(pools: Iterable<string>, waitMs: number, signal: AbortSignal): Promise<Wake> {
    this.#putBack();
    this.#pools = new Set(pools);
    const missed = this.#missed;
    this.#missed = null;
    if (signal.aborted || missed !== null) return missed ?? 'look';
    const { promise, resolve } = Promise.withResolvers<Wake>();
    this.#wake = resolve;
    const cancel = this.#deps.timing.setTimer(waitMs, () => this.#timeOut());
    const gone = () => this.wake('look');
    signal.addEventListener('abort', gone);
    this.#deps.onWait(this.#pools);
    const wake = await promise;
    cancel();
    signal.removeEventListener('abort', gone);
    return wake;
  }

  wake(wake: Wake): void {
    // Nothing else counts for a call that has to end.
    if (this.#wake === null && this.#missed !== 'stopping') this.#missed = wake;
    this.#wake?.(wake);
    this.#wake = null;
  }

  offer(offer: Offer): void {
    this.#offer = offer;
    this.wake('offer');
  }

  /** The address that was offered, if it is of this view. */
  claim(view: PoolView): bigint | null {
    if (this.#offer?.view !== view) return null;
    const { value } = this.#offer;
    this.#offer = null;
    return value;
  }

  [Symbol.dispose](): void {
    this.#deps.onLeave();
    this.#putBack();
  }

  /** At the end of its time a call also gets an address whose pause is not over. */
  #timeOut(): void {
    this.#deps.onTimeout(this.#pools);
    if (this.isWaiting) this.wake('timeout');
  }

  /** Others may have use for it. */
  #putBack(): void {
    const offer = this.#offer;
    this.#offer = null;
    offer?.view.putBack(offer.value);
  }
}
