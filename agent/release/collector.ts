import type { Logger } from 'pino';
import { lookAtNetns, type NetnsLook } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { CollectAnswer } from '#pkg/agentapi/admin.ts';
import { describeHolder } from '#pkg/record/holder.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import type { Releaser } from './releaser.ts';

/** What this agent has seen of a record with its own eyes. */
export interface Sight {
  readonly nowMs: number;
  readonly agentStartedAtMs: number;
  readonly look: NetnsLook;
  /** When this record's namespace was first seen gone, without having been seen since; null when it is there. */
  readonly goneSinceMs: number | null;
  /** When this agent first saw the record as it is: clocks may jump, this one does not. */
  readonly seenSinceMs: number;
}

export type LeftoverVerdict = { readonly free: boolean; readonly because: string };

/** Rule 6: frees on proof only. Null: in use, nothing to say. */
export type JudgeLeftover = (record: IpRecord, sight: Sight) => LeftoverVerdict | null;

export interface NodeCollectorDeps {
  readonly index: NodeIndex;
  readonly releaser: Releaser;
  readonly judge: JudgeLeftover;
  readonly nowMs: () => number;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Frees what DEL never reported: looks at every record of this node again and again, and remembers since when it looks so. */
export class Collector {
  readonly #deps: NodeCollectorDeps;
  readonly #startedAtMs: number;
  /** By record uid and version, so that a change starts the count anew. */
  #goneSince = new Map<string, number>();
  #seenSince = new Map<string, number>();

  constructor(deps: NodeCollectorDeps) {
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
    const { index, judge, nowMs } = this.#deps;
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
      const agentStartedAtMs = this.#startedAtMs;
      const verdict = judge(record, { nowMs: nowMs(), agentStartedAtMs, look, goneSinceMs, seenSinceMs });
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
    return outcome === 'released' || outcome === 'cooling' || outcome === 'retained';
  }
}
