import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';

/** Why a record is left as it is. `report`: an operator should know. */
export const KEEP_REASONS = {
  'pod-alive': { report: false },
  'pod-pending': { report: false },
  'within-grace': { report: false },
  settling: { report: false },
  'node-unsure': { report: false },
  'node-away': { report: false },
  'node-gone-lately': { report: false },
  'agent-away-lately': { report: false },
  'left-to-agent': { report: false },
  'static-pod': { report: false },
  'switched-off': { report: false },
  'after-break': { report: false },
  'sticky-pod-there': { report: false },
  retained: { report: false },
  resting: { report: false },
  'launcher-there': { report: false },
  'not-judged-here': { report: false },
  'address-in-use': { report: false },
  'two-pods-claim-it': { report: true },
  'holder-kind-not-served': { report: true },
  'beyond-bounds': { report: true },
} as const satisfies Record<string, { report: boolean }>;
export type KeepReason = keyof typeof KEEP_REASONS;

/** Every cause of a change; each has a counter. */
export const CAUSES = [
  'pod-gone',
  'node-gone',
  'pod-finished',
  'pod-terminating',
  'running-without-address',
  'not-taken',
  'kind-not-served',
  'beyond-bounds',
  'cooled',
  'quarantine-over',
  'edited-by-hand',
  'migrated',
  'labels-wrong',
  'record-missing',
] as const;
export type Cause = (typeof CAUSES)[number];

export type OwnerToRead = 'stateful-set' | 'vmi';

export type Verdict =
  | { readonly do: 'keep'; readonly why: KeepReason; readonly againInMs?: number }
  /** Strong evidence that the address is no longer in use. */
  | { readonly do: 'free'; readonly cause: Cause }
  /** `isProven`: the sandbox is known to be gone, not only its pod. `isAwaited`: the next pod of the holder is there and needs the address. */
  | { readonly do: 'retain'; readonly cause: Cause; readonly isProven: boolean; readonly isAwaited: boolean }
  /** Weak evidence. */
  | { readonly do: 'suspect'; readonly cause: Cause }
  /** The pod lives, and the record does not say so. */
  | { readonly do: 'allocate-again'; readonly cause: Cause; readonly pod: PodFacts }
  | { readonly do: 'read-owner'; readonly what: OwnerToRead }
  /** The watches do not have the pod. Its absence is timed from a read of the API server, never from a watch. */
  | { readonly do: 'read-pod' };

/**
 * Whether it takes an address away, or prepares to, because of what became of a pod. Only this can be switched off: rests end
 * anyway, records are repaired, and a pod that runs again or has migrated gets what is its own.
 */
export function isCollecting(verdict: Verdict): boolean {
  switch (verdict.do) {
    case 'free':
      return verdict.cause !== 'cooled' && verdict.cause !== 'quarantine-over';
    case 'retain':
      return !verdict.isAwaited;
    default:
      return verdict.do === 'suspect' || verdict.do === 'read-pod';
  }
}

export function keep(why: KeepReason, againInMs?: number): Verdict {
  return againInMs === undefined ? { do: 'keep', why } : { do: 'keep', why, againInMs: Math.max(0, againInMs) };
}
