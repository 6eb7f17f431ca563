import { Slots } from '#pkg/concurrency/slots.ts';
import { FreeSpace } from '#pkg/ip/free-space.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { within } from '#pkg/kube/transport/timing.ts';
import type { TakenAddress } from '#pkg/ledger/ledger.ts';
import { chooseOwn, countOwn, cursorApart, isOwn, type Share, shareOf, startCursor } from '#pkg/pool/choose.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { RecordState } from '#pkg/record/ip-record.ts';
import { Suspects } from './suspects.ts';

/** The node's last three released addresses are not taken from its share, so that a new pod seldom gets its predecessor's. */
const RESTING = 3;
/** Nodes that start in an empty pool at the same time do not see each other's records. After this many picks, reload once. */
const SECOND_LOOK_AFTER = 32;
const SECOND_LOOK_PATIENCE_MS = 200;
/**
 * Creates of one pool at once where the ledger is behind a network. Fewer than SECOND_LOOK_AFTER: otherwise the second look
 * comes before the first creates of the other nodes.
 */
const MOST_CREATES = 24;

export interface ViewDeps {
  readonly reserved: IntervalSet;
  readonly node: string;
  readonly load: () => Promise<readonly TakenAddress[]>;
  /** Creates at once; 24 by default. */
  readonly mostCreates?: number | undefined;
  /** Called when a picked address is free again, so that waiting calls can try it. */
  readonly onPutBack?: (value: bigint) => void;
  /** The view of the same pool before its addresses or the reserved ones changed: what it knew to be taken is taken. */
  readonly before?: PoolView | undefined;
  /** How long picks wait for a second look; 200 ms by default. */
  readonly secondLookMs?: number;
}

/** A load under way, and own writes that ended during it: they are applied after it, because it may have read before them. */
interface Loading {
  readonly done: Promise<void>;
  readonly writes: { readonly value: bigint; readonly isFree: boolean }[];
}

/** `lost`: another holder has it. `back`: it came back since it was picked, so it is free if our create is lost. */
type Picked = 'picked' | 'lost' | 'back';

/**
 * Which addresses of a pool look free from this node. Allowed to be wrong in both directions: the create decides.
 * An address handed out by `pick` is out of the view until it is kept, lost or put back.
 */
export class PoolView {
  readonly pool: Pool;
  /** The pool's addresses less the reserved ones: all that could ever be handed out. */
  readonly usable: IntervalSet;
  /** The creates under way. A burst in this pool leaves room in the line to the API server for other pools. */
  readonly creates: Slots;
  /** They are used only when nothing is free, and only after a probe. */
  readonly suspects: Suspects;
  readonly #load: () => Promise<readonly TakenAddress[]>;
  readonly #node: string;
  readonly #onPutBack: (value: bigint) => void;
  readonly #secondLookMs: number;
  readonly #picked = new Map<bigint, Picked>();
  /** Taken addresses that this pool cannot give. They count again when the pool or the reservations change. */
  #takenOutside = IntervalSet.EMPTY;
  #free: FreeSpace;
  #cursor: bigint;
  #loading: Loading | null = null;
  /** A load that calls should wait for. */
  #awaited: Promise<void> | null = null;
  #isLoaded = false;
  /** Of taken addresses, as far as it is not just Allocated. */
  #states = new Map<bigint, RecordState>();
  #picks = 0;
  #own: OwnShare;

  constructor(
    pool: Pool,
    {
      reserved,
      node,
      load,
      mostCreates = MOST_CREATES,
      onPutBack = () => {},
      before,
      secondLookMs = SECOND_LOOK_PATIENCE_MS,
    }: ViewDeps,
  ) {
    this.pool = pool;
    this.usable = pool.addresses.subtract(reserved);
    this.#free = new FreeSpace(this.usable);
    this.#load = load;
    this.#node = node;
    this.#onPutBack = onPutBack;
    this.#secondLookMs = secondLookMs;
    this.#cursor = startCursor(node, pool);
    this.#own = new OwnShare({ rank: 0, of: 1 }, this.#free);
    this.creates = before?.creates ?? new Slots(mostCreates, Number.POSITIVE_INFINITY);
    this.suspects = before?.suspects ?? new Suspects();
    this.suspects.limitTo(this.usable);
    // What a load finds that is under way would be known to the view before only: this one is read again at its first use.
    if (before?.isLoaded === true && before.#loading === null) this.#inherit(before);
  }

  #inherit(before: PoolView): void {
    const taken = before.usable.subtract(before.#free.toSet()).union(before.#takenOutside);
    this.#takenOutside = taken.subtract(this.usable);
    this.#free = new FreeSpace(this.usable.subtract(taken));
    this.#own = new OwnShare(before.share, this.#free);
    this.#cursor = before.#cursor;
    this.#states = before.#states;
    this.#picks = before.#picks;
    this.#isLoaded = true;
  }

  get freeCount(): bigint {
    return this.#free.size;
  }

  get usedCount(): bigint {
    return this.usable.size - this.#free.size;
  }

  /** How many addresses are in which state other than Allocated, by the last load and by the watch of the pool since. */
  get stateCounts(): ReadonlyMap<RecordState, number> {
    const counts = new Map<RecordState, number>();
    for (const [value, state] of this.#states) {
      if (this.usable.contains(value)) counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return counts;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** This node among all that have something of the pool, as of the last load. */
  get share(): Share {
    return this.#own.share;
  }

  /** Reloads the view, and no call waits for it. */
  refresh(): Promise<void> {
    return this.#read();
  }

  /** Reloads the view. Calls during a load share it. */
  reload(): Promise<void> {
    this.#awaited = this.#read();
    return this.#awaited;
  }

  /** A load is under way that calls should wait for: the view was wrong, empty, or older than the other nodes' records. */
  get isAwaited(): boolean {
    return this.#awaited !== null;
  }

  /** Waits for that load. Only the caller of `reload` learns whether it failed. */
  async untilLoaded(): Promise<void> {
    await this.#awaited?.catch(() => {});
  }

  #read(): Promise<void> {
    if (this.#loading !== null) return this.#loading.done;
    const writes: Loading['writes'] = [];
    const done = this.#reload(writes).finally(() => {
      this.#loading = null;
      this.#awaited = null;
    });
    this.#loading = { done, writes };
    return done;
  }

  /** Next-fit: through this node's share of what the last load left free and of what came back since, then through everything. */
  pick(): bigint | null {
    const value = this.#own.choose(this.#free, this.#cursor) ?? this.#free.next(this.#cursor);
    if (value === null) return null;
    this.#hold(value);
    // The address just given rests longest.
    this.#cursor = value + 1n;
    this.#picks += 1;
    if (this.#picks === SECOND_LOOK_AFTER && this.#own.isWhole) this.#lookAgain();
    return value;
  }

  /** Waits a short time only: a lost create shows the other nodes too. */
  #lookAgain(): void {
    const read = this.#read().catch(() => {});
    const look = within(read, this.#secondLookMs, undefined).then(() => {
      if (this.#awaited === look) this.#awaited = null;
    });
    this.#awaited ??= look;
  }

  /** Picks one given address, even if the view says it is taken: only the ledger can refuse it. */
  pickExactly(value: bigint): void {
    this.#hold(value);
  }

  /** The picked address has a record now, ours or another one: it is not free. */
  settle(value: bigint): void {
    this.#picked.delete(value);
    this.#loading?.writes.push({ value, isFree: false });
    this.#free.take(value);
    this.#states.delete(value);
  }

  /** The create of the picked address was lost. It stays picked, so that no load offers it to the same call again. */
  markLost(value: bigint): void {
    if (this.#picked.get(value) === 'picked') this.#picked.set(value, 'lost');
  }

  /** The create of the picked address was lost: it is not free, unless it came back meanwhile. */
  lose(value: bigint): void {
    if (this.#picked.get(value) === 'back') this.putBack(value);
    else this.settle(value);
  }

  /** The picked address was not written after all. */
  putBack(value: bigint): void {
    this.#picked.delete(value);
    this.markFree(value);
    this.#onPutBack(value);
  }

  markFree(value: bigint): void {
    this.#loading?.writes.push({ value, isFree: true });
    this.#states.delete(value);
    if (this.#picked.has(value)) this.#picked.set(value, 'back');
    else if (!this.usable.contains(value)) this.#noteOutside(value, true);
    else if (this.#free.give(value)) this.#own.noteBack(value);
  }

  /** It is taken, according to the watch of the pool. */
  markTaken(value: bigint, state: RecordState): void {
    this.#loading?.writes.push({ value, isFree: false });
    if (state === 'Allocated') this.#states.delete(value);
    else this.#states.set(value, state);
    if (this.#picked.get(value) === 'back') this.#picked.set(value, 'picked');
    if (this.usable.contains(value)) this.#free.take(value);
    else this.#noteOutside(value, false);
  }

  #noteOutside(value: bigint, isFree: boolean): void {
    if (this.#takenOutside.contains(value) !== isFree) return;
    const one = IntervalSet.of([{ first: value, last: value }]);
    this.#takenOutside = isFree ? this.#takenOutside.subtract(one) : this.#takenOutside.union(one);
  }

  #hold(value: bigint): void {
    this.#picked.set(value, 'picked');
    this.#free.take(value);
  }

  async #reload(writes: Loading['writes']): Promise<void> {
    const taken = await this.#load();
    const takenSet = IntervalSet.of(taken.map(({ value }) => ({ first: value, last: value })));
    const free = new FreeSpace(this.usable.subtract(takenSet));
    this.#takenOutside = takenSet.subtract(this.usable);
    const states = taken.filter(({ state }) => state !== 'Allocated');
    this.#states = new Map(states.map(({ value, state }) => [value, state]));
    const suspects = taken.filter(({ state }) => state === 'Suspect');
    this.suspects.replace(suspects.map(({ value }) => value));
    for (const [value, picked] of this.#picked) {
      if (free.take(value) && picked === 'lost') this.#picked.set(value, 'back');
    }
    for (const { value, isFree } of writes) {
      if (!this.usable.contains(value)) this.#noteOutside(value, isFree);
      else if (!isFree) free.take(value);
      else if (!this.#picked.has(value)) free.give(value);
    }
    this.#free = free;
    const nodes = taken.map(({ node }) => node);
    this.#own = new OwnShare(shareOf(this.#node, nodes), free);
    this.#cursor = this.#own.startApart(free) ?? this.#cursor;
    this.#isLoaded = true;
  }
}

/** What may still be taken of the node's share: the addresses that the last load left free, and those released since. */
class OwnShare {
  readonly share: Share;
  #left: bigint;
  #back = 0;

  constructor(share: Share, free: FreeSpace) {
    this.share = share;
    this.#left = countOwn(free, share);
  }

  /** No other node has an address of the pool. */
  get isWhole(): boolean {
    return this.share.of === 1;
  }

  choose(free: FreeSpace, cursor: bigint): bigint | null {
    if (this.#left > 0n) this.#left -= 1n;
    else if (this.#back > RESTING) this.#back -= 1;
    else return null;
    return chooseOwn(free, cursor, this.share);
  }

  noteBack(value: bigint): void {
    if (isOwn(value, this.share)) this.#back += 1;
  }

  /** Where to search when nothing of the share is left: other nodes load at the same time, and must not start there too. */
  startApart(free: FreeSpace): bigint | null {
    return this.#left === 0n && !this.isWhole ? cursorApart(free, this.share) : null;
  }
}
