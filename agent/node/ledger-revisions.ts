import { setTimeout as sleep } from 'node:timers/promises';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { toRevision } from '#pkg/kube/objects/kube-object.ts';
import { Backoff } from '#pkg/kube/transport/timing.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import { type IpRecord, isSameHolder } from '#pkg/record/ip-record.ts';

/** In this time every agent notices the restore, and writes back the records of its live sandboxes. */
const HOLD_MS = 60_000;
const MOST_TRIES = 12;
const PAUSES = { firstMs: 250, mostMs: 10_000 };

/**
 * Whether the store of the API server went back in time: etcd was restored from a backup. Records that were written
 * after the backup are missing then, although their sandboxes live (rule 9).
 */
export class LedgerRevisions {
  readonly #nowMs: () => number;
  readonly #onFall: (() => void)[] = [];
  readonly #afterBreak: (() => void)[] = [];
  #highest = 0n;
  #heldUntilMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The highest resourceVersion of a record that this agent has seen. */
  get highest(): bigint {
    return this.#highest;
  }

  note({ resourceVersion }: Pick<IpRecord, 'resourceVersion'>): void {
    const revision = toRevision(resourceVersion);
    if (revision > this.#highest) this.#highest = revision;
  }

  /**
   * After a break. An API server that starts refuses reads for a while, so they are tried again for about a minute, with
   * growing pauses: all agents ask at the same time.
   */
  async compare(
    readRevision: () => Promise<string>,
    pause: (ms: number) => Promise<unknown> = (ms) => sleep(ms),
  ): Promise<void> {
    const backoff = new Backoff(PAUSES, Math.random);
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const revision = await readRevision().catch(() => null);
      if (revision !== null && toRevision(revision) < this.#highest) this.fell();
      if (revision !== null) break;
      await pause(backoff.nextMs());
    }
    for (const listener of this.#afterBreak) listener();
  }

  onFall(listener: () => void): void {
    this.#onFall.push(listener);
  }

  /** The API server answers again, and its revision was compared. */
  afterBreak(listener: () => void): void {
    this.#afterBreak.push(listener);
  }

  /** Continues the hold of a predecessor that noticed a restore `agoMs` ago. A clock that went back counts as no time. */
  resume(agoMs: number): void {
    this.#heldUntilMs = this.#nowMs() + HOLD_MS - Math.max(0, agoMs);
  }

  fell(): void {
    this.#highest = 0n;
    this.resume(0);
    for (const listener of this.#onFall) listener();
  }

  throwIfHeld(): void {
    const leftMs = this.#heldUntilMs - this.#nowMs();
    if (leftMs <= 0) return;
    const message =
      'the store of the API server was restored from a backup; agents write their live records back first';
    throw new IpamError('ledger-restored', message, {
      details: `This agent gives out no new address for another ${Math.ceil(leftMs / 1000)} s.`,
    });
  }
}

/** `readRevision` returns the current revision of the store, by a consistent read. */
export function heldAfterRestore(
  ledger: Ledger,
  revisions: LedgerRevisions,
  readRevision: () => Promise<string>,
): Ledger {
  const noted = <T extends IpRecord | null>(record: T): T => {
    if (record !== null) revisions.note(record);
    return record;
  };
  const notedAll = (records: IpRecord[]) => records.map(noted);
  return ledgerWith(ledger, {
    create: async (spec, limits) => {
      revisions.throwIfHeld();
      const before = revisions.highest;
      const outcome = await ledger.create(spec, limits);
      if (!outcome.taken) return outcome;
      // A write that was sent after revision n was seen has a higher one, unless the store went back. The read makes sure:
      // the record found may be one of an earlier try.
      const mayHaveFallen = toRevision(outcome.record.resourceVersion) <= before;
      if (mayHaveFallen && toRevision(await readRevision()) < before) {
        revisions.fell();
        await ledger.release(outcome.record);
        revisions.throwIfHeld();
      }
      revisions.note(outcome.record);
      return outcome;
    },
    takeOver: async (seen, next, limits) => {
      // The next pod of a StatefulSet is held too: the restore may have taken a pod away whose sandbox still has the address.
      const isOwn = isSameHolder(seen.spec.holder, next.holder) && seen.spec.holder.uid === next.holder.uid;
      if (!isOwn) revisions.throwIfHeld();
      const outcome = await ledger.takeOver(seen, next, limits);
      if (outcome.done) revisions.note(outcome.record);
      return outcome;
    },
    amend: async (seen, next, limits) => {
      const outcome = await ledger.amend(seen, next, limits);
      if (outcome.done) revisions.note(outcome.record);
      return outcome;
    },
    get: async (name) => noted(await ledger.get(name)),
    byHolder: async (key) => notedAll(await ledger.byHolder(key)),
    byNode: async (node) => notedAll(await ledger.byNode(node)),
  });
}
