import type { ClusterView } from '#controller/cluster-view/cluster-view.ts';

/** The time in which this process is the leader. */
export interface Term {
  /** Aborted when the term ends. */
  readonly signal: AbortSignal;
  /** Checked before each write: true only while no other process can hold the lease. */
  mayWrite(): boolean;
  /** Shared by all tasks; its caches have synced when they start. */
  readonly view: ClusterView;
}

/** Work that only the leader does. `run` returns soon after the term has ended; when it throws, it is logged and run again with backoff. */
export interface LeaderTask {
  readonly name: string;
  run(term: Term): Promise<void>;
}
