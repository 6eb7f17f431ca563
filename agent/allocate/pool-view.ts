import { FreeSpace } from '#pkg/ip/free-space.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import type { TakenAddress } from '#pkg/ledger/ledger.ts';
import {
  type Choice,
  chooseNext,
  chooseOwn,
  countOwn,
  cursorApart,
  type Share,
  shareOf,
  startCursor,
} from '#pkg/pool/choose.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { TakingPace } from './taking-pace.ts';

/** Nodes that begin in an empty pool at the same time cannot see each other. After so many picks they can. */
const SECOND_LOOK_AFTER = 32;

/**
 * Which addresses of a pool look free from this node. Allowed to be wrong in both directions: the create decides.
 * An address handed out by `pick` is out of the view until it is kept, lost or put back.
 */
export class PoolView {
  readonly pool: Pool;
  /** The pool's addresses less the reserved ones: all that could ever be handed out. */
  readonly usable: IntervalSet;
  readonly pace = new TakingPace();
  readonly #load: () => Promise<readonly TakenAddress[]>;
  readonly #node: string;
  readonly #picked = new Set<bigint>();
  #free: FreeSpace;
  #cursor: bigint;
  #loading: Promise<void> | null = null;
  #isLoaded = false;
  #picks = 0;
  #share: Share = { rank: 0, of: 1 };
  #ownLeft = 0n;
  #suspects: readonly bigint[] = [];
  /** Own writes that end while a load is under way: the load may have read before them. */
  #since: { value: bigint; free: boolean }[] = [];

  constructor(pool: Pool, reserved: IntervalSet, node: string, load: () => Promise<readonly TakenAddress[]>) {
    this.pool = pool;
    this.usable = pool.addresses.subtract(reserved);
    this.#free = new FreeSpace(this.usable);
    this.#load = load;
    this.#node = node;
    this.#cursor = startCursor(node, pool);
  }

  get freeCount(): bigint {
    return this.#free.size;
  }

  get usedCount(): bigint {
    return this.usable.size - this.#free.size;
  }

  /** Given up on weak evidence: for when nothing free is left, and only with a probe. */
  get suspects(): readonly bigint[] {
    return this.#suspects;
  }

  async ready(): Promise<void> {
    if (!this.#isLoaded) await this.reload();
  }

  /** Reads what is taken, once for all who ask meanwhile. */
  reload(): Promise<void> {
    this.#loading ??= this.#reload().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  /** Waits for a reload that is under way; whoever asked for it learns whether it failed. */
  async untilLoaded(): Promise<void> {
    await this.#loading?.catch(() => {});
  }

  /** Next-fit: once through this node's share of what the last load left free, then through everything. */
  pick(): bigint | null {
    const choice = this.#chooseOwn() ?? chooseNext(this.#free, this.#cursor);
    if (choice === null) return null;
    this.#hold(choice.value);
    this.#cursor = choice.cursor;
    this.#picks += 1;
    // Who does not learn of the others this way learns of them by a lost create.
    if (this.#picks === SECOND_LOOK_AFTER && this.#share.of === 1) this.reload().catch(() => {});
    return choice.value;
  }

  #chooseOwn(): Choice | null {
    if (this.#ownLeft === 0n) return null;
    this.#ownLeft -= 1n;
    return chooseOwn(this.#free, this.#cursor, this.#share);
  }

  /** Takes out one given address, even one that looks taken: only the ledger can refuse it. */
  pickExactly(value: bigint): void {
    this.#hold(value);
  }

  /** The picked address is ours or somebody else's now: either way not free. */
  settle(value: bigint): void {
    this.#picked.delete(value);
    this.#noteTaken(value);
  }

  /** The picked address was not written after all. */
  putBack(value: bigint): void {
    this.#picked.delete(value);
    this.markFree(value);
  }

  markFree(value: bigint): void {
    if (this.#loading !== null) this.#since.push({ value, free: true });
    if (this.usable.contains(value) && !this.#picked.has(value)) this.#free.give(value);
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
    if (this.#ownLeft === 0n && this.#share.of > 1) this.#cursor = cursorApart(free, this.#share) ?? this.#cursor;
    this.#isLoaded = true;
  }
}
