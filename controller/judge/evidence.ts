import type { AgentSighting } from '#controller/cluster-view/agent-table.ts';
import type { NodeSighting } from '#controller/cluster-view/node-table.ts';
import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';

/** Whether the sticky owner still wants its address. `not-served`: the API server does not know the kind, which proves nothing. */
export type OwnerEvidence = 'unread' | 'valid' | 'invalid' | 'not-served';

/** All that a judgement of one record may rest on. Times are of the leader's monotonic clock but for `wallMs`. */
export interface Evidence {
  readonly nowMs: number;
  readonly wallMs: number;
  /** Since when the API server has answered this leader without a break. */
  readonly steadySinceMs: number;
  /** When this leader first saw this resourceVersion of the record. */
  readonly firstSeenMs: number;
  /** The pod of the holder's name, whatever its uid; for a VMI the launcher pod that the record names. */
  readonly pod: PodFacts | null;
  /** All launcher pods of a VMI; empty for other holders. */
  readonly launchers: readonly PodFacts[];
  /** Pods that have not finished, have this address in their status, and no other record of it in another domain. */
  readonly claimants: readonly PodFacts[];
  readonly node: NodeSighting;
  /** The agent of that node, from the watch alone: it decides only how long is waited, never whether an address is free. */
  readonly agent: AgentSighting;
  readonly owner: OwnerEvidence;
  /** Since when this leader has read, without a break, that the owner does not want the address. */
  readonly ownerAbsentSinceMs: number | null;
  /** Since when this leader has read, without a break, that the kind of the owner is not served. */
  readonly notServedSinceMs: number | null;
  /** How many records of the namespace became Retained before this one, if it is Retained. */
  readonly retainedBefore: number;
  /** Whether the holder of a Retained record has had another address on this interface and in this family since. */
  readonly isSuperseded: boolean;
  /** Since when this leader has read, without a break, that the pod with the holder's uid is gone. Null: not read yet. */
  readonly goneSinceMs: number | null;
  /** Since when the pod is known to have finished. */
  readonly finishedSinceMs: number | null;
  /** Since when a running pod of this holder has done without the address. */
  readonly idleSinceMs: number | null;
  /** The grace of a pod that was running when it was last seen, where it is longer than the usual one; null also where this leader never saw the pod. */
  readonly graceMs: number | null;
}
