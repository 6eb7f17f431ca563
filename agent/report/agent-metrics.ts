import type { ProbeVerdict } from '#agent/probe/probe-target.ts';
import type { Reason } from '#pkg/errors/reasons.ts';

/** What is counted by looking when somebody asks. */
export const WATCHED_GAUGES = [
  'journal-entries',
  'spool-entries',
  'index-records',
  'waiting-adds',
  'lost-events',
] as const;
export type WatchedGauge = (typeof WATCHED_GAUGES)[number];

/** What the use cases tell of themselves. Nothing here ever throws or waits. */
export interface AgentMetrics {
  /** An ADD ended after so long; null: well. */
  allocation(ms: number, failed: Reason | null): void;
  release(ms: number, failed: Reason | null): void;
  /** How long a call waited for its turn before any work was done on it. */
  queueWait(ms: number, of?: 'allocation' | 'release'): void;
  probe(verdict: ProbeVerdict['kind']): void;
  /** Somebody else's record had the name that was to be created. */
  createConflict(): void;
  /** A record was another one when it was to be given back. */
  releaseConflict(): void;
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
  watch() {},
};
