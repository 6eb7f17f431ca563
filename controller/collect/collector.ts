import type { Logger } from 'pino';
import { vmiOf } from '#controller/cluster-view/pod-table.ts';
import type { KnownRecord } from '#controller/cluster-view/record-table.ts';
import type { ViewChange } from '#controller/cluster-view/view-change.ts';
import type { CollectSettings } from '#controller/judge/collect-settings.ts';
import { judge } from '#controller/judge/judge.ts';
import type { Verdict } from '#controller/judge/verdict.ts';
import type { LeaderTask, Term } from '#controller/reconcile/leader-task.ts';
import { toIpamError } from '#pkg/errors/ipam-error.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { sleep, type Timing } from '#pkg/kube/transport/timing.ts';
import { inSlices } from '#pkg/kube/watch/in-slices.ts';
import { WorkQueue } from '#pkg/kube/watch/work-queue.ts';
import { recordLabels } from '#pkg/record/record-metadata.ts';
import { type Change, carryOut } from './carry-out.ts';
import type { CollectMetrics } from './collect-metrics.ts';
import { EvidenceSource } from './gather-evidence.ts';
import { KeepReporter } from './keep-reporter.ts';
import { LiveReads } from './live-reads.ts';
import { findFirstInterfaces, MissingRecords } from './missing-records.ts';
import { cooldownSecondsOf } from './pool-cooldown.ts';
import { RecordNotes } from './record-notes.ts';
import { openRecordWriter, type RecordWriter } from './record-writer.ts';
import { restoreMissing } from './restore-missing.ts';

export interface CollectorDeps {
  readonly client: KubeClient;
  readonly settings: CollectSettings;
  readonly metrics: CollectMetrics;
  readonly events: Events;
  readonly log: Logger;
  readonly timing: Timing;
  readonly now: () => Date;
}

const BACKOFF = { firstMs: 500, mostMs: 60_000 };
/** Timers have an upper limit and clocks may be wrong; each sweep examines every record anyway. */
const LONGEST_WAIT_MS = 3_600_000;
/** A worker pauses this long between two writes: leaked addresses are not urgent, and pods wait for the same API server. */
const REST_MS = 2;

/** Releases addresses that are no longer in use: on watch events, and in a periodic sweep over all records. */
export function collectorTask(deps: CollectorDeps): LeaderTask {
  return {
    name: 'collect',
    run: async (term) => {
      await using collection = new Collection(deps, term);
      await collection.run();
    },
  };
}

/** The collector during one term. */
export class Collection implements AsyncDisposable {
  readonly #deps: CollectorDeps;
  readonly #term: Term;
  readonly #reads: LiveReads;
  readonly #writer: RecordWriter;
  readonly #notes = new RecordNotes();
  readonly #missing = new MissingRecords();
  /** Only the sweep checks labels: they are hashes, too expensive to compute on every event. */
  readonly #mislabelled = new Set<string>();
  readonly #source: EvidenceSource;
  readonly #keepReporter: KeepReporter;
  readonly #queue: WorkQueue;
  readonly #subscription: Disposable;

  constructor(deps: CollectorDeps, term: Term) {
    const { client, timing, now, settings, log, events } = deps;
    this.#deps = deps;
    this.#term = term;
    const nowMs = () => timing.nowMs();
    this.#reads = new LiveReads(client, settings.leaseFreshMs, nowMs, term.signal);
    this.#writer = openRecordWriter(client, term.signal);
    this.#source = new EvidenceSource(term.view, this.#notes, { nowMs, now });
    this.#keepReporter = new KeepReporter(events, log);
    this.#queue = new WorkQueue({
      reconcile: (name) => this.#examine(name),
      onTrouble: (name, thrown, retryInMs) => {
        if (term.signal.aborted) return;
        log.warn({ record: name, why: toIpamError(thrown).message, retryInMs }, 'record not examined');
      },
      workers: settings.workers,
      backoff: BACKOFF,
      timing,
    });
    this.#subscription = term.view.subscribe((change) => this.#onChange(change));
  }

  async run(): Promise<void> {
    const { timing, settings, log } = this.#deps;
    const { signal } = this.#term;
    while (!signal.aborted) {
      await this.sweep().catch((thrown) => {
        if (!signal.aborted) log.warn({ why: toIpamError(thrown).message }, 'sweep failed');
      });
      await sleep(timing, settings.sweepEveryMs, signal);
    }
  }

  /** Examines every record once, and enqueues those that need a change. */
  async sweep(): Promise<void> {
    const { log, settings, timing } = this.#deps;
    const { view, signal } = this.#term;
    const startedMs = timing.nowMs();
    const names = view.records.names();
    let doubtful = 0;
    const look = (name: string) => {
      const known = view.records.get(name);
      if (known !== null) doubtful += Number(this.#plan(known));
    };
    await inSlices(names, look, signal);
    if (signal.aborted) return;
    if (settings.repairsMissingRecords) await this.#restoreMissing();
    const tookMs = Math.round(timing.nowMs() - startedMs);
    log.info({ records: names.length, doubtful, tookMs }, 'sweep finished');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    await this.#queue[Symbol.asyncDispose]();
  }

  /** Returns whether the record may need a change now, and enqueues it if so. */
  #plan(known: KnownRecord): boolean {
    const { name } = known.record;
    const verdict = judge(known.record, this.#source.known(known), this.#deps.settings);
    if (verdict.do === 'keep' && verdict.againInMs !== undefined) {
      this.#queue.addAfter(name, Math.min(verdict.againInMs, LONGEST_WAIT_MS));
    }
    const isMislabelled = this.#hasWrongLabels(known);
    if (isMislabelled) this.#mislabelled.add(name);
    const isDoubtful = verdict.do !== 'keep' || isMislabelled;
    if (isDoubtful) this.#queue.add(name);
    return isDoubtful;
  }

  /** The order matters: the resourceVersion of the record is known before the live reads, and the write is conditional on it. */
  async #examine(name: string): Promise<number | undefined> {
    const { settings } = this.#deps;
    const known = this.#term.view.records.get(name);
    if (known === null || this.#term.signal.aborted) return undefined;
    const { record } = known;
    const first = judge(record, this.#source.known(known), settings);
    if (first.do === 'keep') {
      this.#keepReporter.kept(record, first);
      if (this.#mislabelled.delete(name)) await this.#carryOut(known, { do: 'relabel', cause: 'labels-wrong' });
      return again(first);
    }
    const evidence = await this.#source.live(known, this.#reads);
    let verdict = judge(record, evidence, settings);
    if (verdict.do === 'read-owner') {
      const complete = await this.#source.withOwner(verdict.what, known, evidence, this.#reads);
      verdict = judge(record, complete, settings);
    }
    if (verdict.do === 'read-owner' || verdict.do === 'read-pod') return undefined;
    if (verdict.do !== 'keep') return this.#carryOut(known, verdict);
    this.#keepReporter.kept(record, verdict);
    return again(verdict);
  }

  async #carryOut({ record }: KnownRecord, change: Change): Promise<undefined> {
    const { settings, metrics, events, log, now, timing } = this.#deps;
    const { view } = this.#term;
    await carryOut(record, change, {
      writer: this.#writer,
      metrics,
      events,
      log,
      now,
      mayWrite: () => this.#term.mayWrite(),
      isDryRun: settings.isDryRun,
      cooldownSeconds: (pool) => cooldownSecondsOf(view.pools.get({ name: pool })),
    });
    await sleep(timing, REST_MS, this.#term.signal);
  }

  async #restoreMissing(): Promise<void> {
    const { client, settings, metrics, events, log, timing } = this.#deps;
    const nowMs = timing.nowMs();
    const { view } = this.#term;
    const missing = await this.#missing.look(view, nowMs, settings.settleMs);
    if (missing.length === 0) return;
    const mayWrite = () => this.#term.mayWrite();
    const own = { reads: this.#reads, writer: this.#writer, served: await findFirstInterfaces(view) };
    await restoreMissing(missing, { ...own, client, metrics, events, log, mayWrite, nowMs });
  }

  #hasWrongLabels({ record, labels, firstSeenMs }: KnownRecord): boolean {
    if (this.#deps.timing.nowMs() - firstSeenMs < this.#deps.settings.settleMs) return false;
    return Object.entries(recordLabels(record.spec)).some(([label, value]) => labels[label] !== value);
  }

  #onChange(change: ViewChange): void {
    const { records } = this.#term.view;
    switch (change.of) {
      case 'record':
        this.#mislabelled.delete(change.name);
        if (change.now === null) this.#notes.forget(change.name);
        else this.#queue.add(change.name);
        return;
      case 'pod':
        for (const pod of [change.before, change.now]) {
          if (pod === null) continue;
          this.#addAll(records.namesOfHolder(pod.namespace, pod.name));
          const vmi = vmiOf(pod);
          if (vmi !== null) this.#addAll(records.namesOfHolder(pod.namespace, vmi));
        }
        return;
      case 'node':
        this.#addAll(records.namesOfNode(change.name));
        return;
    }
  }

  #addAll(names: Iterable<string>): void {
    for (const name of names) this.#queue.add(name);
  }
}

function again({ againInMs }: Verdict & { do: 'keep' }): number | undefined {
  return againInMs === undefined ? undefined : Math.min(againInMs, LONGEST_WAIT_MS);
}
