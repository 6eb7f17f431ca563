import type { Logger } from 'pino';
import type { BeginLooks, NetnsLook } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { CollectAnswer } from '#pkg/agentapi/admin.ts';
import { describeHolder, type IpRecord } from '#pkg/record/ip-record.ts';
import { LookMemory } from './look-memory.ts';
import type { Releaser } from './releaser.ts';

/** What this agent has observed of a record on its node. */
export interface Sight {
  readonly nowMs: number;
  readonly agentStartedAtMs: number;
  readonly look: NetnsLook;
  /** Since when every look has said the same. */
  readonly lookSinceMs: number;
  /** Since when the record is looked at, as it is: clocks may jump, this one does not. */
  readonly seenSinceMs: number;
}

export interface LeftoverVerdict {
  readonly free: boolean;
  readonly because: string;
  /** When another look may decide more. */
  readonly againInMs?: number;
  /** The sandbox is still there although its pod is gone: an operator must remove it (rule 6). */
  readonly isOutliving?: boolean;
}

/** Rule 6: frees on proof only. Null: in use, nothing to say. */
export type JudgeLeftover = (record: IpRecord, sight: Sight) => LeftoverVerdict | null;

export interface NodeCollectorDeps {
  readonly index: NodeIndex;
  readonly releaser: Releaser;
  readonly beginLooks: BeginLooks;
  /** Whether a look can matter. What a living pod has is in use, whatever is seen. */
  readonly needsLook: (record: IpRecord) => boolean;
  readonly judge: JudgeLeftover;
  /** Called once for each sandbox that outlives its pod. */
  readonly onOutliving: (record: IpRecord) => void;
  readonly nowMs: () => number;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Frees what DEL never reported: looks at every record of this node again and again, and remembers since when it looks so. */
export class Collector {
  readonly #deps: NodeCollectorDeps;
  readonly #startedAtMs: number;
  readonly #memory = new LookMemory();
  readonly #outliving = new Map<string, IpRecord>();
  #againAtMs = Number.POSITIVE_INFINITY;

  constructor(deps: NodeCollectorDeps) {
    this.#deps = deps;
    this.#startedAtMs = deps.nowMs();
  }

  /** How long until the next rest ends or the next look may decide, at most `atMostMs`. */
  untilNextMs(atMostMs: number): number {
    const { index, now, nowMs } = this.#deps;
    const ends = index.all().flatMap(({ spec }) => (spec.until === undefined ? [] : Date.parse(spec.until)));
    const rests = ends.map((end) => end - now().getTime());
    return Math.max(0, Math.min(atMostMs, this.#againAtMs - nowMs(), ...rests));
  }

  /** The records whose sandboxes outlive their pods, as of the last looks. */
  outliving(): readonly IpRecord[] {
    return [...this.#outliving.values()];
  }

  /** The record got a new version only to show that its sandbox is seen. The sandbox is not reported again. */
  noteMarked(record: IpRecord): void {
    this.#memory.goOn(record, this.#deps.index.writtenAtMs(record.name));
    if (this.#outliving.has(record.uid)) this.#outliving.set(record.uid, record);
  }

  async collect(dryRun: boolean): Promise<CollectAnswer> {
    const records = this.#deps.index.all();
    this.#forgetOthers(records);
    this.#againAtMs = Number.POSITIVE_INFINITY;
    return await this.#collect(records, dryRun);
  }

  /** What one pod has here. False: nothing of it needs another look. */
  async collectOf(uid: string): Promise<boolean> {
    await this.#collect(this.#deps.index.ofHolderUid(uid), false);
    return this.#deps.index.ofHolderUid(uid).some(this.#deps.needsLook);
  }

  async #collect(records: readonly IpRecord[], dryRun: boolean): Promise<CollectAnswer> {
    const freed: CollectAnswer['freed'][number][] = [];
    const kept: CollectAnswer['kept'][number][] = [];
    const { beginLooks, needsLook, nowMs } = this.#deps;
    const look = beginLooks();
    for (const record of records.filter(needsLook)) {
      // Before the look: an ADD that is answered from here on voids what is judged by it.
      const judgedAtMs = nowMs();
      const verdict = this.#judge(record, await look(record.spec.holder));
      if (verdict === null) continue;
      const line = { name: record.name, holder: describeHolder(record), because: verdict.because };
      if (!verdict.free) kept.push(line);
      else if (dryRun || (await this.#free(record, judgedAtMs, verdict.because))) freed.push(line);
    }
    return { dryRun, freed, kept };
  }

  #judge(record: IpRecord, look: NetnsLook): LeftoverVerdict | null {
    const { index, judge, nowMs } = this.#deps;
    const seen = this.#memory.note(record, { look, writtenAtMs: index.writtenAtMs(record.name) }, nowMs());
    const verdict = judge(record, { nowMs: nowMs(), agentStartedAtMs: this.#startedAtMs, look, ...seen });
    if (verdict?.againInMs !== undefined) this.#againAtMs = Math.min(this.#againAtMs, nowMs() + verdict.againInMs);
    this.#noteOutliving(record, verdict?.isOutliving === true);
    return verdict;
  }

  #noteOutliving(record: IpRecord, isOutliving: boolean): void {
    const isKnown = this.#outliving.has(record.uid);
    if (!isOutliving) this.#outliving.delete(record.uid);
    else this.#outliving.set(record.uid, record);
    if (isOutliving && !isKnown) this.#deps.onOutliving(record);
  }

  #forgetOthers(records: readonly IpRecord[]): void {
    const looked = new Set(records.filter(this.#deps.needsLook).map(({ uid }) => uid));
    this.#memory.keepOnly(looked);
    for (const uid of this.#outliving.keys()) if (!looked.has(uid)) this.#outliving.delete(uid);
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
