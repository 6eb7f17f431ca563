import type { Logger } from 'pino';
import type { IpRecord } from '#pkg/crd/ip-record.ts';
import { type Events, NO_EVENTS } from '#pkg/kube/events.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import { Agent } from './agent.ts';
import { type AgentMetrics, NO_METRICS } from './agent-metrics.ts';
import { AddressProbe, type ProbeSettings, type Probing } from './allocate/address-probe.ts';
import { Allocator } from './allocate/allocator.ts';
import { Announcer, type Announcing } from './allocate/announcer.ts';
import { FamilyTaker } from './allocate/family-taker.ts';
import { FreedWaiters } from './allocate/freed-waiters.ts';
import type { PlanOptions } from './allocate/plan.ts';
import { PoolViews } from './allocate/pool-views.ts';
import { Reattachment } from './allocate/reattachment.ts';
import { StickyTakeOver } from './allocate/sticky-take-over.ts';
import { Gate } from './gate.ts';
import type { HolderFacts, HolderSource } from './holder-source.ts';
import { Inspector } from './inspect/inspector.ts';
import type { IsOwn } from './is-own.ts';
import { EntryPauses } from './journal/entry-pauses.ts';
import type { Journal } from './journal/journal.ts';
import { settleJournal } from './journal/settle-journal.ts';
import { KeyedQueue } from './keyed-queue.ts';
import type { NodeIndex } from './node-index.ts';
import type { PoolCatalog } from './pool-catalog.ts';
import type { JudgeAfterlife } from './release/afterlife.ts';
import { Collector, type JudgeLeftover } from './release/collector.ts';
import { GiveBack } from './release/give-back.ts';
import type { RefuseRelease } from './release/release-refusal.ts';
import { Releaser } from './release/releaser.ts';
import type { Spool } from './release/spool.ts';
import type { ReachStep } from './steps.ts';

const WORKING = { working: 64, queued: 1_000 };
const MOST_WAITERS = 256;

/** What an agent stands on: files and SQLite when standalone, the API server in a cluster. */
export interface AgentPorts {
  readonly ledger: Ledger;
  readonly index: NodeIndex;
  readonly catalog: PoolCatalog;
  readonly holders: HolderSource;
  readonly planOptions: PlanOptions;
  readonly spool: Spool;
  /** Null where the ledger is in this process. */
  readonly journal: Journal | null;
  readonly judgeAfterlife: JudgeAfterlife;
  readonly judgeLeftover: JudgeLeftover;
  /** Null where no holder is sticky. Never from a cache. */
  readonly isStillAlive: ((facts: HolderFacts) => Promise<boolean>) | null;
  readonly node: string;
  readonly isOwn: IsOwn;
  readonly refuseRelease: RefuseRelease;
  readonly exhaustedWaitMs: number;
  readonly log: Logger;
  readonly reach: ReachStep;
  /** Null where this process may not probe. */
  readonly prober: (Probing & Announcing) | null;
  readonly probeSettings: ProbeSettings;
  readonly metrics?: AgentMetrics;
  readonly events?: Events;
  readonly onConflict?: (record: IpRecord, mac: string) => void;
  readonly nowMs?: () => number;
  readonly now?: () => Date;
}

export interface ComposedAgent {
  readonly agent: Agent;
  readonly releaser: Releaser;
  readonly collector: Collector;
  readonly waiters: FreedWaiters;
  /** Settles what the journal owes; nothing to do without one. */
  readonly settleJournal: () => Promise<void>;
}

/** Wires an agent that knows its node's records; it does not serve yet. */
export function composeAgent(ports: AgentPorts): ComposedAgent {
  const { ledger, index, catalog, holders, spool, journal, node, log, reach, planOptions: options } = ports;
  const nowMs = ports.nowMs ?? (() => performance.now());
  const now = ports.now ?? (() => new Date());
  const queue = new KeyedQueue();
  const views = new PoolViews(catalog, ledger, index, node);
  const giveBack = new GiveBack({ ledger, index, views, catalog, journal, now, nowMs, reach, log });
  const { prober, probeSettings: settings, metrics = NO_METRICS, events = NO_EVENTS, onConflict = () => {} } = ports;
  const onTurn = (waitedMs: number) => metrics.queueWait(waitedMs, 'release');
  const releaser = new Releaser({ index, giveBack, spool, queue, judge: ports.judgeAfterlife, reach, nowMs, onTurn });
  const waiters = new FreedWaiters(ledger, catalog, views, MOST_WAITERS);
  const onVerdict = metrics.probe.bind(metrics);
  const probe = new AddressProbe({ prober, settings, ledger, index, giveBack, now, log, onVerdict, onConflict });
  const taker = new FamilyTaker({ ...ports, views, waiters, giveBack, probe, nowMs, metrics });
  const reattachment = new Reattachment({ ledger, index, giveBack });
  const { isStillAlive, exhaustedWaitMs: waitMs } = ports;
  const sticky =
    isStillAlive === null
      ? null
      : new StickyTakeOver({ ledger, index, reattachment, probe, isStillAlive, waitMs, nowMs });
  const gate = new Gate(WORKING);
  const allocator = new Allocator({
    catalog,
    holders,
    index,
    reattachment,
    taker,
    probe,
    announcer: new Announcer(prober, log),
    spool,
    journal,
    sticky,
    gate,
    queue,
    options,
    reach,
    metrics,
    log,
  });
  const collector = new Collector({ index, releaser, judge: ports.judgeLeftover, nowMs, now, log });
  const inspector = new Inspector({ ledger, catalog, views, holders, spool, index, options, isOwn: ports.isOwn });
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
    collect,
    log,
    metrics,
    events,
  });
  const pauses = new EntryPauses(nowMs);
  const settle = async () => {
    if (journal === null) return;
    await settleJournal({ journal, ledger, index, giveBack, queue, pauses, node, now, nowMs, log });
  };
  return { agent, releaser, collector, waiters, settleJournal: settle };
}
