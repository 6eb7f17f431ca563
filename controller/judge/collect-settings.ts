export interface CollectSettings {
  /** If false, no address is taken away because of what became of its pod. Everything else is done. */
  readonly isEnabled: boolean;
  /** The same, and logs and counts what would be done. */
  readonly isDryRun: boolean;
  readonly sweepEveryMs: number;
  /** Added to every grace. */
  readonly additionalDelayMs: number;
  /** If false, pods that are Terminating keep their addresses, however long past their deadline. */
  readonly collectsTerminating: boolean;
  /** Pods past their deadline whose node is Ready, or is not. */
  readonly collectsOnReadyNodes: boolean;
  readonly collectsOnNotReadyNodes: boolean;
  /** A running pod without any address in its status is weak evidence. */
  readonly suspectsRunningWithoutAddress: boolean;
  readonly repairsMissingRecords: boolean;
  readonly keepsStatefulSets: boolean;
  /** How long a pod must be gone, a resourceVersion known and an agent Ready before what is left counts. */
  readonly settleMs: number;
  /** How long a Node object must be gone before nothing of it can run any more. */
  readonly nodeGoneMs: number;
  /** How long a node that is well may have no Ready agent before its records are in doubt. */
  readonly agentAwayMs: number;
  /** How old the last renewal of a node's lease may be. */
  readonly leaseFreshMs: number;
  /** How long a running pod may leave a retained address of its own lying. */
  readonly notTakenMs: number;
  /** How long a Retained address is kept that is beyond the bounds, or whose owner is of a kind that is not served. */
  readonly beyondBoundsMs: number;
  /** How many addresses are Retained for the absent pods and machines of one namespace. */
  readonly retainedPerNamespace: number;
  /** No rest is longer than this since it was first seen, whatever `until` says. */
  readonly longestRestMs: number;
  /** Records looked at and changed at once. */
  readonly workers: number;
}

/** A kubelet renews its lease every 10 s. With 25 s, and 60 s of settling, a watch may lag by half a minute and no dead node looks alive. */
export const COLLECT_DEFAULTS: CollectSettings = {
  isEnabled: true,
  isDryRun: false,
  sweepEveryMs: 600_000,
  additionalDelayMs: 0,
  collectsTerminating: true,
  collectsOnReadyNodes: true,
  collectsOnNotReadyNodes: true,
  suspectsRunningWithoutAddress: false,
  repairsMissingRecords: true,
  keepsStatefulSets: true,
  settleMs: 60_000,
  nodeGoneMs: 300_000,
  agentAwayMs: 300_000,
  leaseFreshMs: 25_000,
  notTakenMs: 300_000,
  beyondBoundsMs: 900_000,
  retainedPerNamespace: 1_000,
  longestRestMs: 604_800_000,
  workers: 2,
};
