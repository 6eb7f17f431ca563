import type { Logger } from 'pino';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import type { Journal } from '#agent/debts/journal.ts';
import { type Fate, isLeftBehind } from '#agent/debts/journal-entry.ts';
import type { AnsweredStore } from '#agent/node/answered-store.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { PoolViews } from '#agent/views/pool-views.ts';
import { type IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Ledger, Refusal, UpdateOutcome } from '#pkg/ledger/ledger.ts';
import type { IpRecord, RecordSpec } from '#pkg/record/ip-record.ts';
import { hasSandboxTraces } from '#pkg/record/ip-record.ts';
import { toCooling, toRetained } from '#pkg/record/released-spec.ts';

/** `journalled`: the ledger did not answer or refused; the release is in the journal and is repeated until it is done. */
export type GivenBack = 'released' | 'cooling' | 'retained' | 'journalled' | Refusal;

export interface GiveBackDeps {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly views: PoolViews;
  readonly catalog: PoolCatalog;
  /** Null where the ledger is in this process: then a release that fails is an error. */
  readonly journal: Journal | null;
  /** Null where the ledger is in this process: then no record is lost without its agent. */
  readonly answered: AnsweredStore | null;
  readonly now: () => Date;
  readonly nowMs: () => number;
  readonly failpoint?: Failpoint | undefined;
  readonly log: Logger;
}

/** A DEL is waited for 10 s; after this it is the journal's. */
const PATIENCE_MS = 4_000;

/** Rule 2: gives back exactly the record that was seen. Whatever else is there under its name is left alone. */
export class GiveBack {
  readonly #deps: GiveBackDeps;

  constructor(deps: GiveBackDeps) {
    this.#deps = deps;
  }

  /** After a life in use: with a cooldown the address rests first. */
  async afterUse(seen: IpRecord): Promise<GivenBack> {
    return await this.#settleOrJournal(seen, 'rest');
  }

  /** Never used, or done resting. */
  async atOnce(seen: IpRecord): Promise<GivenBack> {
    return await this.#settleOrJournal(seen, 'free');
  }

  /** Kept for the next pod of the same sticky holder. A record that no pod ever had is not kept. */
  async retain(seen: IpRecord): Promise<GivenBack> {
    const entries = this.#deps.journal?.ofRecord(seen.name) ?? [];
    const wasNeverHad = entries.some((entry) => isLeftBehind(seen, entry));
    return await this.#settleOrJournal(seen, wasNeverHad ? 'free' : 'retain');
  }

  /** Throws where the ledger does not answer or refuses. Nothing is written to the journal. */
  async settle(seen: IpRecord, fate: Fate): Promise<GivenBack> {
    const limits = { deadlineMs: this.#deps.nowMs() + PATIENCE_MS };
    if (fate === 'retain') {
      if (seen.spec.state !== 'Allocated' && !isInDoubt(seen)) return 'changed';
      return await this.#change(seen, toRetained(seen.spec), 'retained', limits);
    }
    const until = fate === 'rest' && seen.spec.state === 'Allocated' ? this.#restsUntil(seen) : null;
    if (until !== null) return await this.#change(seen, toCooling(seen.spec, until), 'cooling', limits);
    const outcome = await this.#deps.ledger.release(seen, limits);
    this.#deps.index.drop(seen);
    if (!outcome.done) return await this.#refused(seen, outcome.because);
    this.#deps.failpoint?.('record-released');
    this.#deps.views.markFree(seen);
    return 'released';
  }

  /** A record that no ADD was answered with, as it was just read. Throws like `settle`. */
  async settleUnanswered(seen: IpRecord): Promise<GivenBack> {
    // A refresh may have kept it as answered; restored, it would be a second record of its holder (rule 4).
    this.#deps.answered?.forget(seen.name);
    return await this.settle(seen, 'free');
  }

  async #settleOrJournal(seen: IpRecord, fate: Fate): Promise<GivenBack> {
    const { journal, answered } = this.#deps;
    // Before the write: what this agent gives back itself is never restored (rule 9).
    answered?.forget(seen.name);
    try {
      return await this.settle(seen, fate);
    } catch (thrown) {
      if (journal === null) throw thrown;
      await this.#writeToJournal(seen, fate, journal, toIpamError(thrown));
      return 'journalled';
    }
  }

  /** Whatever the reason: a DEL that failed would be repeated without end, and its pod would hang in Terminating. */
  async #writeToJournal(
    seen: IpRecord,
    fate: Fate,
    journal: Journal,
    { reason, message, details }: IpamError,
  ): Promise<void> {
    if (journal.hasRelease(seen, fate)) return;
    await journal.write({ kind: 'release', record: seen, fate, at: this.#deps.now().toISOString() });
    const fields = { address: seen.spec.address, fate, reason, why: message, details };
    this.#deps.log.warn(fields, 'release not done, written to the journal');
  }

  async #change(
    seen: IpRecord,
    next: RecordSpec,
    done: 'retained' | 'cooling',
    limits: { readonly deadlineMs: number },
  ): Promise<GivenBack> {
    const outcome: UpdateOutcome = await this.#deps.ledger.amend(seen, next, limits);
    this.#deps.index.drop(seen);
    if (!outcome.done) return await this.#refused(seen, outcome.because);
    this.#deps.index.put(outcome.record);
    return done;
  }

  #restsUntil(seen: IpRecord): Date | null {
    const { catalog, now } = this.#deps;
    const cooldownSeconds = catalog.current().pools.get(seen.spec.pool.name)?.reuseCooldownSeconds ?? 0;
    return cooldownSeconds === 0 ? null : new Date(now().getTime() + cooldownSeconds * 1000);
  }

  /** Another writer changed it: the index takes the record as it is now, and the release is over. */
  async #refused(seen: IpRecord, because: Refusal): Promise<Refusal> {
    const now = because === 'changed' ? await this.#deps.ledger.get(seen.name) : null;
    if (now !== null && now.spec.holder.node === seen.spec.holder.node) this.#deps.index.put(now);
    return because;
  }
}

/** It waits already, but its old sandbox was not proven to be gone. */
function isInDoubt({ spec }: IpRecord): boolean {
  return spec.state === 'Retained' && hasSandboxTraces(spec);
}
