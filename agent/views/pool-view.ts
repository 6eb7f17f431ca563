import { Slots } from '#pkg/concurrency/slots.ts';
import { FreeSpace } from '#pkg/ip/free-space.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { within } from '#pkg/kube/transport/timing.ts';
import type { TakenAddress } from '#pkg/ledger/ledger.ts';
import {
  type Choice,
  chooseNext,
  chooseOwn,
  countOwn,
  cursorApart,
  isOwn,
  type Share,
  shareOf,
  startCursor,
} from '#pkg/pool/choose.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { SuspectTurns } from './suspect-turns.ts';

/** Hold back this node's last three released addresses, so that a new pod never gets its predecessor's. */
const RESTING = 3;
/** Nodes that start in an empty pool at the same time do not see each other's records. After this many picks, reload once. */
const SECOND_LOOK_AFTER = 32;
const SECOND_LOOK_PATIENCE_MS = 200;
/** Fewer than SECOND_LOOK_AFTER: otherwise the second look comes before the first creates of the other nodes. */
const MOST_CREATES = 24;

export interface ViewDeps {
  readonly reserved: IntervalSet;
  readonly node: string;
  readonly load: () => Promise<readonly TakenAddress[]>;
  /** Called when a picked address is free again, so that waiting calls can try it. */
  readonly onPutBack?: () => void;
}

/**
 * Which addresses of a pool look free from this node. Allowed to be wrong in both directions: the create decides.
 * An address handed out by `pick` is out of the view until it is kept, lost or put back.
 */
export class PoolView {
  readonly pool: Pool;
  /** The pool's addresses less the reserved ones: all that could ever be handed out. */
  readonly usable: IntervalSet;
  /** The creates under way. A burst in this pool leaves room in the line to the API server for other pools. */
  readonly creates = new Slots(MOST_CREATES, Number.POSITIVE_INFINITY);
  readonly suspectTurns = new SuspectTurns();
  readonly #load: () => Promise<readonly TakenAddress[]>;
  readonly #node: string;
  readonly #onPutBack: () => void;
  readonly #picked = new Set<bigint>();
  #free: FreeSpace;
  #cursor: bigint;
  #loading: Promise<void> | null = null;
  #awaited: Promise<void> | null = null;
  #isLoaded = false;
  #picks = 0;
  #share: Share = { rank: 0, of: 1 };
  /** Of what the last load left free, and of what came back since. */
  #ownLeft = 0n;
  #ownBack = 0;
  #suspects: readonly bigint[] = [];
  /** Own writes that ended during a load. They are applied after it, because the load may have read before them. */
  #since: { value: bigint; free: boolean }[] = [];

  constructor(pool: Pool, { reserved, node, load, onPutBack = () => {} }: ViewDeps) {
    this.pool = pool;
    this.usable = pool.addresses.subtract(reserved);
    this.#free = new FreeSpace(this.usable);
    this.#load = load;
    this.#node = node;
    this.#onPutBack = onPutBack;
    this.#cursor = startCursor(node, pool);
  }

  get freeCount(): bigint {
    return this.#free.size;
  }

  get usedCount(): bigint {
    return this.usable.size - this.#free.size;
  }

  /** Suspect addresses. They are used only when nothing is free, and only after a probe. */
  get suspects(): readonly bigint[] {
    return this.#suspects;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
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
    this.#loading ??= this.#reload().finally(() => {
      this.#loading = null;
      this.#awaited = null;
    });
    return this.#loading;
  }

  /** Next-fit: through this node's share of what the last load left free and of what came back since, then through everything. */
  pick(): bigint | null {
    const choice = this.#chooseOwn() ?? chooseNext(this.#free, this.#cursor);
    if (choice === null) return null;
    this.#hold(choice.value);
    this.#cursor = choice.cursor;
    this.#picks += 1;
    if (this.#picks === SECOND_LOOK_AFTER && this.#share.of === 1) this.#lookAgain();
    return choice.value;
  }

  /** Waits a short time only: a lost create shows the other nodes too. */
  #lookAgain(): void {
    const read = this.#read().catch(() => {});
    const look = within(read, SECOND_LOOK_PATIENCE_MS, undefined).then(() => {
      if (this.#awaited === look) this.#awaited = null;
    });
    this.#awaited ??= look;
  }

  #chooseOwn(): Choice | null {
    if (this.#ownLeft > 0n) this.#ownLeft -= 1n;
    else if (this.#ownBack > RESTING) this.#ownBack -= 1;
    else return null;
    return chooseOwn(this.#free, this.#cursor, this.#share);
  }

  /** Picks one given address, even if the view says it is taken: only the ledger can refuse it. */
  pickExactly(value: bigint): void {
    this.#hold(value);
  }

  /** The picked address has a record now, ours or another one: it is not free. */
  settle(value: bigint): void {
    this.#picked.delete(value);
    this.#noteTaken(value);
  }

  /** The picked address was not written after all. */
  putBack(value: bigint): void {
    this.#picked.delete(value);
    this.markFree(value);
    this.#onPutBack();
  }

  markFree(value: bigint): void {
    if (this.#loading !== null) this.#since.push({ value, free: true });
    if (!this.usable.contains(value) || this.#picked.has(value) || !this.#free.give(value)) return;
    if (isOwn(value, this.#share)) this.#ownBack += 1;
  }

  #hold(value: bigint): void {
    this.#picked.add(value);
    this.#free.take(value);
  }

  #noteTaken(value: bigint): void {
    if (this.#loading !== null) this.#since.push({ value, free: false });
    this.#free.take(value);
  }

  async #reload(): Promise<void> {
    this.#since = [];
    const taken = await this.#load();
    const free = new FreeSpace(
      this.usable.subtract(IntervalSet.of(taken.map(({ value }) => ({ first: value, last: value })))),
    );
    this.#suspects = taken
      .filter(({ state, value }) => state === 'Suspect' && this.usable.contains(value))
      .map(({ value }) => value);
    for (const value of this.#picked) free.take(value);
    for (const change of this.#since) {
      if (!change.free) free.take(change.value);
      else if (this.usable.contains(change.value) && !this.#picked.has(change.value)) free.give(change.value);
    }
    this.#free = free;
    this.#share = shareOf(
      this.#node,
      taken.map(({ node }) => node),
    );
    this.#ownLeft = countOwn(free, this.#share);
    this.#ownBack = 0;
    if (this.#ownLeft === 0n && this.#share.of > 1) this.#cursor = cursorApart(free, this.#share) ?? this.#cursor;
    this.#isLoaded = true;
  }
}
