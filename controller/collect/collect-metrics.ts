import type { Cause } from '#controller/judge/verdict.ts';

export interface CollectMetrics {
  /** A record was freed, retained, suspected or repaired; in dry-run mode: would have been. */
  collected(cause: Cause): void;
  /** A record became Suspect, or Retained without proof that its sandbox is gone. */
  doubted(cause: Cause): void;
  failed(cause: Cause): void;
}

export class CollectCounts implements CollectMetrics {
  readonly counts = {
    collected: new Map<Cause, number>(),
    doubted: new Map<Cause, number>(),
    failed: new Map<Cause, number>(),
  };

  collected(cause: Cause): void {
    raise(this.counts.collected, cause);
  }

  doubted(cause: Cause): void {
    raise(this.counts.doubted, cause);
  }

  failed(cause: Cause): void {
    raise(this.counts.failed, cause);
  }
}

function raise(counts: Map<Cause, number>, cause: Cause): void {
  counts.set(cause, (counts.get(cause) ?? 0) + 1);
}
