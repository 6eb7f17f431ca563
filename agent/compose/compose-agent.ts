import type { Logger } from 'pino';
import { AddressProbe, type ProbeSettings, type Probing } from '#agent/allocate/address-probe.ts';
import { Allocator } from '#agent/allocate/allocator.ts';
import { Announcer, type Announcing } from '#agent/allocate/answer.ts';
import { AutoPools } from '#agent/allocate/auto-pools.ts';
import { FamilyTaker } from '#agent/allocate/family-taker.ts';
import { FreedWaiters } from '#agent/allocate/freed-waiters.ts';
import type { PlanOptions } from '#agent/allocate/plan.ts';
import { Reattachment } from '#agent/allocate/reattachment.ts';
import { StickyTakeOver } from '#agent/allocate/sticky-take-over.ts';
import { type Pause, SuspectProbe } from '#agent/allocate/suspect-probe.ts';
import { KeyedQueue } from '#agent/calls/call.ts';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import { EntryBackoff } from '#agent/debts/entry-backoff.ts';
import type { Journal } from '#agent/debts/journal.ts';
import type { Spool } from '#agent/debts/spool.ts';
import { Inspector } from '#agent/inspect/inspector.ts';
import type { AnsweredStore } from '#agent/node/answered-store.ts';
import type { IsOwn } from '#agent/node/is-own.ts';
import { looksFrom, type NetnsSight } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import { Collector, type JudgeLeftover } from '#agent/release/collector.ts';
import { GiveBack } from '#agent/release/give-back.ts';
import { OutlivingMarks } from '#agent/release/outliving-marks.ts';
import type { DecideRelease } from '#agent/release/release-decision.ts';
import type { RefuseRelease } from '#agent/release/release-refusal.ts';
import { Releaser } from '#agent/release/releaser.ts';
import { settleJournal } from '#agent/release/settle-journal.ts';
import { type AgentMetrics, NO_METRICS } from '#agent/report/agent-metrics.ts';
import { Agent } from '#agent/serve/agent.ts';
import type { Applications, Shortages } from '#agent/sources/applications.ts';
import type { HolderFacts, HolderSource } from '#agent/sources/holder-source.ts';
import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import { SuspectSweep } from '#agent/suspects/suspect-sweep.ts';
import type { SweepTiming } from '#agent/suspects/sweep-timing.ts';
import { PoolViews } from '#agent/views/pool-views.ts';
import { type Events, NO_EVENTS } from '#pkg/kube/events/events.ts';
import { SYSTEM_TIMING, type Timing } from '#pkg/kube/transport/timing.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

const MOST_WAITERS = 256;

/** The ports of an agent: files and SQLite when standalone, the API server in a cluster. */
export interface AgentPorts {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly catalog: PoolCatalog;
  readonly holders: HolderSource;
  readonly planOptions: PlanOptions;
  readonly applications: Applications;
  readonly shortages: Shortages;
  readonly spool: Spool;
  /** Null where the ledger is in this process. */
  readonly journal: Journal | null;
  /** Null where the ledger is in this process. */
  readonly answered: AnsweredStore | null;
  readonly decideRelease: DecideRelease;
  /** What this process sees of the network namespaces of its host. */
  readonly sight: NetnsSight;
  readonly needsLook: (record: IpRecord) => boolean;
  readonly judgeLeftover: JudgeLeftover;
  readonly onOutliving?: (record: IpRecord) => void;
  /** Null where no holder is sticky. Never from a cache. */
  readonly isStillAlive: ((facts: HolderFacts) => Promise<boolean>) | null;
  readonly node: string;
  readonly isOwn: IsOwn;
  readonly refuseRelease: RefuseRelease;
  /** Creates at once in one pool. Absent: as many as a ledger behind a network should have. */
  readonly mostCreates?: number;
  readonly exhaustedWaitMs: number;
  readonly log: Logger;
  readonly failpoint?: Failpoint | undefined;
  /** Null where this process may not probe. */
  readonly prober: (Probing & { readonly announcer: Announcing }) | null;
  readonly probeSettings: ProbeSettings;
  /** Null: Suspect addresses that no holder takes stay as they are. */
  readonly sweepTiming?: SweepTiming | null;
  readonly metrics?: AgentMetrics;
  readonly events?: Events;
  readonly onConflict?: (record: IpRecord, mac: string) => void;
  /** The pause between two probes of a Suspect address. */
  readonly pause?: Pause;
  readonly nowMs?: () => number;
  readonly now?: () => Date;
  /** The timers and the chance of calls that wait for an address. */
  readonly timing?: Timing;
}

export interface ComposedAgent {
  readonly agent: Agent;
  readonly releaser: Releaser;
  readonly collector: Collector;
  readonly marks: OutlivingMarks;
  /** Null where it is switched off, or this process may not probe. */
  readonly sweep: SuspectSweep | null;
  readonly waiters: FreedWaiters;
  readonly autoPools: AutoPools;
  /** The agent stops: calls that wait for something to change end. */
  readonly stopWaiting: () => void;
  /** What is done about one attachment is done in its turn. */
  readonly queue: KeyedQueue;
  /** Settles the entries of the journal; does nothing without a journal. */
  readonly settleJournal: () => Promise<void>;
}

/** Wires the parts of an agent; it does not serve yet. */
export function composeAgent(ports: AgentPorts): ComposedAgent {
  const { ledger, index, catalog, holders, spool, journal, node, log, failpoint, planOptions: options } = ports;
  const nowMs = ports.nowMs ?? performance.now.bind(performance);
  const now = ports.now ?? (() => new Date());
  const queue = new KeyedQueue();
  const views = new PoolViews(catalog, ledger, index, node, ports.mostCreates);
  const { answered } = ports;
  const giveBack = new GiveBack({ ledger, index, views, catalog, journal, answered, now, nowMs, failpoint, log });
  const { prober, probeSettings: settings, metrics = NO_METRICS, events = NO_EVENTS, onConflict = () => {} } = ports;
  const onTurn = (waitedMs: number) => metrics.queueWait(waitedMs, 'release');
  const releaser = new Releaser({
    index,
    giveBack,
    spool,
    queue,
    judge: ports.decideRelease,
    failpoint,
    nowMs,
    onTurn,
  });
  const waiters = new FreedWaiters({
    ledger,
    catalog,
    views,
    index,
    most: MOST_WAITERS,
    timing: ports.timing ?? SYSTEM_TIMING,
  });
  const onVerdict = metrics.probe.bind(metrics);
  const probe = new AddressProbe({ prober, settings, ledger, index, giveBack, now, log, onVerdict, onConflict });
  const { pause } = ports;
  const { windowMs } = settings;
  const suspectProbe = new SuspectProbe({ probe, windowMs, nowMs, ...(pause === undefined ? {} : { pause }) });
  const taker = new FamilyTaker({ ...ports, views, waiters, giveBack, probe, suspectProbe, nowMs, metrics });
  const reattachment = new Reattachment({ ledger, index, catalog, options, giveBack, probe });
  const { isStillAlive, exhaustedWaitMs: waitMs } = ports;
  const sticky =
    isStillAlive === null
      ? null
      : new StickyTakeOver({
          ledger,
          index,
          reattachment,
          probe,
          suspectProbe,
          isStillAlive,
          reserved: (family) => catalog.current().reserved[family],
          waitMs,
          nowMs,
        });
  const { applications, shortages } = ports;
  const autoPools = new AutoPools({ catalog, holders, options, applications, shortages, nowMs, most: MOST_WAITERS });
  const allocator = new Allocator({
    catalog,
    holders,
    index,
    reattachment,
    taker,
    announcer: new Announcer(prober?.announcer ?? null, log),
    spool,
    journal,
    sticky,
    autoPools,
    queue,
    options,
    failpoint,
    metrics,
    log,
  });
  const beginLooks = looksFrom(ports.sight);
  const { needsLook, judgeLeftover: judge, onOutliving = () => {}, isOwn } = ports;
  const collector = new Collector({ index, releaser, beginLooks, needsLook, judge, onOutliving, nowMs, now, log });
  const marks = new OutlivingMarks({ ledger, index, collector, nowMs, log });
  const outliving = () => collector.outliving();
  const inspector = new Inspector({
    ledger,
    catalog,
    views,
    holders,
    autoPools,
    spool,
    index,
    options,
    isOwn,
    beginLooks,
    outliving,
    answered,
  });
  const { sweepTiming: timing = null } = ports;
  const isInUse = (record: IpRecord) => !needsLook(record);
  const random = Math.random;
  const sweeping = {
    ledger,
    index,
    catalog,
    views,
    probe,
    giveBack,
    beginLooks,
    isInUse,
    node,
    metrics,
    random,
    nowMs,
    log,
  };
  const sweep = timing === null || prober === null ? null : new SuspectSweep({ ...sweeping, timing });
  const collect = (dryRun: boolean) => collector.collect(dryRun);
  const { refuseRelease } = ports;
  const agent = new Agent({
    ledger,
    index,
    holders,
    allocator,
    releaser,
    refuseRelease,
    inspector,
    beginLooks,
    collect,
    log,
    metrics,
    events,
  });
  const backoff = new EntryBackoff(nowMs);
  const settle = async () => {
    if (journal === null) return;
    await settleJournal({ journal, ledger, index, giveBack, queue, backoff, node, now, nowMs, log });
  };
  const stopWaiting = () => {
    waiters.stop();
    autoPools.stop();
    sticky?.stop();
  };
  return { agent, releaser, collector, marks, sweep, waiters, autoPools, stopWaiting, queue, settleJournal: settle };
}
