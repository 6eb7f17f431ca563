/** The lease of a node as this leader saw it, on its monotonic clock. */
export interface NodeLease {
  /** The last renewal that this leader saw, as the node wrote it. */
  readonly renewTime: string;
  /** When this leader saw the lease change; null if it never did. */
  readonly renewedAtMs: number | null;
  /** Since when it has been renewed without a gap. */
  readonly steadySinceMs: number;
}

/** The first read of a lease is not a renewal: the lease may be a year old. */
export function seeRenewal(
  before: NodeLease | null,
  renewTime: string,
  nowMs: number,
  longestGapMs: number,
): NodeLease {
  if (before === null) return { renewTime, renewedAtMs: null, steadySinceMs: nowMs };
  if (before.renewTime === renewTime) return before;
  const sinceSeenMs = nowMs - (before.renewedAtMs ?? before.steadySinceMs);
  // Both times come from the node's own clock. They show a new leader, which did not watch, how long the node was away.
  const sinceWrittenMs = Date.parse(renewTime) - Date.parse(before.renewTime);
  const isSteady = sinceSeenMs <= longestGapMs && sinceWrittenMs > 0 && sinceWrittenMs <= longestGapMs;
  return { renewTime, renewedAtMs: nowMs, steadySinceMs: isSteady ? before.steadySinceMs : nowMs };
}
