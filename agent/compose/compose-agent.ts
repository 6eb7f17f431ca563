import { AddressProbe } from '#agent/allocate/address-probe.ts';
import { AutoPools } from '#agent/allocate/auto-pools.ts';
import { FreedWaiters } from '#agent/allocate/freed-waiters.ts';
import { KeyedQueue } from '#agent/calls/call.ts';
import { EntryBackoff } from '#agent/debts/entry-backoff.ts';
import { Inspector } from '#agent/inspect/inspector.ts';
import { looksFrom } from '#agent/node/netns-look.ts';
import { Collector } from '#agent/release/collector.ts';
import { GiveBack } from '#agent/release/give-back.ts';
import { OutlivingMarks } from '#agent/release/outliving-marks.ts';
import { Releaser } from '#agent/release/releaser.ts';
import { type SettleDeps, settleJournal } from '#agent/release/settle-journal.ts';
import { Agent } from '#agent/serve/agent.ts';
import { SuspectSweep, type SuspectSweepDeps } from '#agent/suspects/suspect-sweep.ts';
import { PoolViews } from '#agent/views/pool-views.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { composeAllocator } from './compose-allocator.ts';
import { type AgentPorts, type FilledPorts, withDefaults } from './compose-ports.ts';

const MOST_WAITERS = 256;

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
export function composeAgent(given: AgentPorts): ComposedAgent {
  const ports = withDefaults(given);
  const { ledger, index, catalog, node, metrics, planOptions: options, probeSettings: settings } = ports;
  const queue = new KeyedQueue();
  const views = new PoolViews(catalog, ledger, index, node, ports.mostCreates);
  const giveBack = new GiveBack({ ...ports, views });
  const probe = new AddressProbe({ ...ports, settings, giveBack, onVerdict: metrics.probe.bind(metrics) });
  const waiters = new FreedWaiters({ ...ports, views, most: MOST_WAITERS });
  const autoPools = new AutoPools({ ...ports, options, most: MOST_WAITERS });
  const { allocator, sticky } = composeAllocator(ports, { queue, views, giveBack, probe, waiters, autoPools });

  const onTurn = (waitedMs: number) => metrics.queueWait(waitedMs, 'release');
  const releaser = new Releaser({ ...ports, giveBack, queue, judge: ports.decideRelease, onTurn });
  const beginLooks = looksFrom(ports.sight);
  const collector = new Collector({ ...ports, releaser, beginLooks, judge: ports.judgeLeftover });
  const collect = (dryRun: boolean) => collector.collect(dryRun);
  const outliving = () => collector.outliving();
  const marks = new OutlivingMarks({ ...ports, collector });
  const sweep = composeSweep(ports, { views, probe, giveBack, beginLooks });

  const inspector = new Inspector({ ...ports, options, views, autoPools, beginLooks, outliving });
  const agent = new Agent({ ...ports, allocator, releaser, inspector, beginLooks, collect });
  const settleJournal = journalSettlement(ports, { giveBack, queue });
  const stopWaiting = () => {
    waiters.stop();
    autoPools.stop();
    sticky?.stop();
  };
  return { agent, releaser, collector, marks, sweep, waiters, autoPools, stopWaiting, queue, settleJournal };
}

/** Null where it is switched off, or this process may not probe. */
function composeSweep(
  ports: FilledPorts,
  parts: Pick<SuspectSweepDeps, 'views' | 'probe' | 'giveBack' | 'beginLooks'>,
): SuspectSweep | null {
  const { sweepTiming: timing, prober, needsLook } = ports;
  if (timing === null || prober === null) return null;
  const isInUse = (record: IpRecord) => !needsLook(record);
  return new SuspectSweep({ ...ports, ...parts, isInUse, random: Math.random, timing });
}

function journalSettlement({ journal, ...ports }: FilledPorts, parts: Pick<SettleDeps, 'giveBack' | 'queue'>) {
  if (journal === null) return async () => {};
  const backoff = new EntryBackoff(ports.nowMs);
  return () => settleJournal({ ...ports, ...parts, journal, backoff });
}
