import type { Logger } from 'pino';
import type { NodeIndex } from '#agent/node/node-index.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { type IpRecord, MOST_ATTACHES } from '#pkg/record/ip-record.ts';
import type { Collector } from './collector.ts';

/** Much shorter than the time after which others free a record that did not change. */
const MARK_EVERY_MS = 20 * 60_000;

export interface OutlivingMarksDeps {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly collector: Pick<Collector, 'outliving' | 'noteMarked'>;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/**
 * Rule 6: a Suspect record whose sandbox this agent sees gets a new resourceVersion from time to time. Other agents free an
 * address only if its record did not change for long, so this one stays with its sandbox, even if the sandbox does not answer.
 */
export class OutlivingMarks {
  readonly #deps: OutlivingMarksDeps;
  readonly #markedAtMs = new Map<string, number>();

  constructor(deps: OutlivingMarksDeps) {
    this.#deps = deps;
  }

  /** Writes what is due. One record that cannot be written keeps none of the others. */
  async mark(): Promise<void> {
    const { collector, nowMs, log } = this.#deps;
    const seen = collector.outliving().filter(({ spec }) => spec.state === 'Suspect');
    const uids = new Set(seen.map(({ uid }) => uid));
    for (const uid of this.#markedAtMs.keys()) if (!uids.has(uid)) this.#markedAtMs.delete(uid);
    for (const record of seen) {
      const markedAtMs = this.#markedAtMs.get(record.uid);
      if (markedAtMs !== undefined && nowMs() < markedAtMs + MARK_EVERY_MS) continue;
      await this.#mark(record).catch((thrown: unknown) => {
        log.warn(
          { address: record.spec.address, why: toIpamError(thrown).message },
          'Suspect record not marked as seen',
        );
      });
    }
  }

  async #mark(record: IpRecord): Promise<void> {
    const { ledger, index, collector, nowMs } = this.#deps;
    const { attachGeneration } = record.spec.holder;
    if (attachGeneration >= MOST_ATTACHES) return;
    const holder = { ...record.spec.holder, attachGeneration: attachGeneration + 1 };
    const outcome = await ledger.amend(record, { ...record.spec, holder });
    // Another writer changed it, so its resourceVersion moved too. The next refresh of the index reads it.
    this.#markedAtMs.set(record.uid, nowMs());
    if (!outcome.done) return;
    index.drop(record);
    index.put(outcome.record);
    collector.noteMarked(outcome.record);
  }
}
