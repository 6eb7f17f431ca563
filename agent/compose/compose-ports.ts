import type { Logger } from 'pino';
import type { ProbeSettings, Probing } from '#agent/allocate/address-probe.ts';
import type { Announcing } from '#agent/allocate/answer.ts';
import type { PlanOptions } from '#agent/allocate/plan.ts';
import type { Pause } from '#agent/allocate/suspect-probe.ts';
import type { Failpoint } from '#agent/calls/failpoint.ts';
import type { Journal } from '#agent/debts/journal.ts';
import type { Spool } from '#agent/debts/spool.ts';
import type { AnsweredStore } from '#agent/node/answered-store.ts';
import type { IsOwn } from '#agent/node/is-own.ts';
import type { NetnsSight } from '#agent/node/netns-look.ts';
import type { NodeIndex } from '#agent/node/node-index.ts';
import type { JudgeLeftover } from '#agent/release/collector.ts';
import type { DecideRelease } from '#agent/release/release-decision.ts';
import type { RefuseRelease } from '#agent/release/release-refusal.ts';
import { type AgentMetrics, NO_METRICS } from '#agent/report/agent-metrics.ts';
import type { Applications, Shortages } from '#agent/sources/applications.ts';
import type { HolderFacts, HolderSource } from '#agent/sources/holder-source.ts';
import type { PoolCatalog } from '#agent/sources/pool-catalog.ts';
import type { SweepTiming } from '#agent/suspects/sweep-timing.ts';
import { type Events, NO_EVENTS } from '#pkg/kube/events/events.ts';
import { SYSTEM_TIMING, type Timing } from '#pkg/kube/transport/timing.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';

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

/** What a caller leaves out: no metrics and Events, and the clocks and the chance of the system. */
export function withDefaults(given: AgentPorts) {
  return {
    metrics: NO_METRICS,
    events: NO_EVENTS,
    onConflict: () => {},
    onOutliving: () => {},
    sweepTiming: null,
    nowMs: performance.now.bind(performance),
    now: () => new Date(),
    timing: SYSTEM_TIMING,
    ...given,
  };
}

export type FilledPorts = ReturnType<typeof withDefaults>;
