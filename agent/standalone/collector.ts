import type { Logger } from 'pino';
import type { CollectAnswer } from '#pkg/agentapi/admin.ts';
import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { describeHolder } from '../inspect/describe-holder.ts';
import { lookAtNetns } from '../netns-look.ts';
import type { NodeIndex } from '../node-index.ts';
import type { Releaser } from '../release/releaser.ts';
import { judgeLeftover, type Patience } from './leftovers.ts';

export interface CollectorDeps {
  readonly index: NodeIndex;
  readonly releaser: Releaser;
  readonly bootID: string;
  readonly patience: Patience;
  readonly longestRestMs: (record: IpRecord) => number;
  readonly nowMs: () => number;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Frees what DEL never reported: namespaces gone in two looks apart in time, records of an earlier boot, rests that are over. */
export class Collector {
  readonly #deps: CollectorDeps;
  readonly #startedAtMs: number;
  /** By record uid and version, so that a change starts the count anew. */
  #goneSince = new Map<string, number>();
  #seenSince = new Map<string, number>();

  constructor(deps: CollectorDeps) {
    this.#deps = deps;
    this.#startedAtMs = deps.nowMs();
  }

  /** How long until the next rest ends, at most `atMostMs`. */
  untilNextMs(atMostMs: number): number {
    const ends = this.#deps.index.all().flatMap(({ spec }) => (spec.until === undefined ? [] : Date.parse(spec.until)));
    return Math.max(0, Math.min(atMostMs, ...ends.map((end) => end - this.#deps.now().getTime())));
  }

  async collect(dryRun: boolean): Promise<CollectAnswer> {
    const freed: CollectAnswer['freed'][number][] = [];
    const kept: CollectAnswer['kept'][number][] = [];
    const judgedAtMs = this.#deps.nowMs();
    for (const { record, verdict } of await this.#judge()) {
      const line = { name: record.name, holder: describeHolder(record), because: verdict.because };
      if (!verdict.free) kept.push(line);
      else if (dryRun || (await this.#free(record, judgedAtMs, verdict.because))) freed.push(line);
    }
    return { dryRun, freed, kept };
  }

  async #judge() {
    const { index, bootID, patience, nowMs, now, longestRestMs } = this.#deps;
    const goneSince = new Map<string, number>();
    const seenSince = new Map<string, number>();
    const judged = [];
    for (const record of index.all()) {
      const look = await lookAtNetns(record.spec.holder.netns);
      const sight = `${record.uid} ${record.resourceVersion}`;
      const goneSinceMs = look === 'gone' ? (this.#goneSince.get(sight) ?? nowMs()) : null;
      if (goneSinceMs !== null) goneSince.set(sight, goneSinceMs);
      const seenSinceMs = this.#seenSince.get(sight) ?? nowMs();
      seenSince.set(sight, seenSinceMs);
      const evidence = {
        nowMs: nowMs(),
        bootID,
        bootedAgentAtMs: this.#startedAtMs,
        goneSinceMs,
        look,
        seenSinceMs,
        longestRestMs: longestRestMs(record),
      };
      const verdict = judgeLeftover(record, evidence, patience, now());
      if (verdict !== null) judged.push({ record, verdict });
    }
    this.#goneSince = goneSince;
    this.#seenSince = seenSince;
    return judged;
  }

  async #free(record: IpRecord, judgedAtMs: number, because: string): Promise<boolean> {
    const outcome = await this.#deps.releaser.releaseJudged(record, judgedAtMs);
    this.#deps.log.info(
      { address: record.spec.address, holder: describeHolder(record), because, outcome },
      'leftover address collected',
    );
    return outcome === 'released' || outcome === 'cooling';
  }
}
