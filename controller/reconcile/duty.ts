import type { ClusterView } from '#controller/cluster-view/cluster-view.ts';

/** The time in which this process leads. */
export interface Term {
  /** Fires when it is over. */
  readonly signal: AbortSignal;
  /** Ask before each write: true only while nobody else can have taken over. */
  mayWrite(): boolean;
  /** Shared by all duties, and complete when they start. */
  readonly view: ClusterView;
}

/** What only the leader does. `run` ends soon after the term does; what it throws is told, and it is run again after a pause. */
export interface Duty {
  readonly name: string;
  run(term: Term): Promise<void>;
}
