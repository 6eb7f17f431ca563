import type { ProbeVerdict } from '#agent/probe/probe-target.ts';
import type { Reason } from '#pkg/errors/reasons.ts';

/** Gauges whose value is computed at each scrape. */
export const WATCHED_GAUGES = [
  'ready',
  'journal-entries',
  'spool-entries',
  'index-records',
  'waiting-adds',
  'lost-events',
  'lost-addresses',
  'outliving-sandboxes',
] as const;
export type WatchedGauge = (typeof WATCHED_GAUGES)[number];

/** The metrics of the agent's calls. No method throws or waits. */
export interface AgentMetrics {
  /** An ADD ended after this time; a null reason means success. */
  allocation(ms: number, failed: Reason | null): void;
  release(ms: number, failed: Reason | null): void;
  /** How long a call waited in its queue. */
  queueWait(ms: number, of?: 'allocation' | 'release'): void;
  probe(verdict: ProbeVerdict['kind']): void;
  /** A create was lost: another holder has the record of this name. */
  createConflict(): void;
  /** A release failed at its precondition: the record has changed. */
  releaseConflict(): void;
  /** A lost record of a live sandbox was created again. */
  recordRestored(): void;
  /** A Suspect address was freed because no host answered on it. */
  suspectFreed(): void;
  /** Once per gauge; `read` is called at every scrape and must be cheap. */
  watch(gauge: WatchedGauge, read: () => number): void;
}

export const NO_METRICS: AgentMetrics = {
  allocation() {},
  release() {},
  queueWait() {},
  probe() {},
  createConflict() {},
  releaseConflict() {},
  recordRestored() {},
  suspectFreed() {},
  watch() {},
};
