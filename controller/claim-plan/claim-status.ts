import { settleConditions } from '#controller/project/condition.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';

/** What the contract of Cluster API calls the reasons of a claim that is not Ready. */
type ClaimFailure = 'PoolNotReady' | 'PoolExhausted' | 'AllocationFailed';

/** The Ready condition as it should be. */
export type ClaimVerdict =
  | { readonly isReady: true; readonly message: string }
  | { readonly isReady: false; readonly reason: ClaimFailure; readonly message: string };

/** A merge patch of `status`. It is never empty: the schema refuses `status: {}`. */
export interface ClaimStatus {
  readonly addressRef?: { readonly name: string };
  readonly conditions: readonly unknown[];
}

const LONGEST_MESSAGE = 1_000;

/** The status to write, or null if the claim has it already. */
export function planClaimStatus(claim: Claim, verdict: ClaimVerdict, now: Date): ClaimStatus | null {
  const { conditions, generation, name } = claim;
  const ready = {
    type: 'Ready',
    status: verdict.isReady ? ('True' as const) : ('False' as const),
    reason: verdict.isReady ? 'Ready' : verdict.reason,
    message: verdict.message.slice(0, LONGEST_MESSAGE),
    observedGeneration: generation,
  };
  const isNamed = !verdict.isReady || claim.addressName === name;
  if (isNamed && isSaid(conditions, ready)) return null;
  return {
    ...(verdict.isReady ? { addressRef: { name } } : {}),
    conditions: settleConditions(conditions, [ready], { ours: ['Ready'], now }),
  };
}

/**
 * How many claims wait changes with every claim. If the message of an exhausted pool were kept exact, one freed address would
 * cause a write for each claim that goes on waiting.
 */
function isSaid(conditions: unknown, ready: Readonly<Record<string, unknown>>): boolean {
  const found = Array.isArray(conditions) ? conditions.filter(isMap).find(({ type }) => type === 'Ready') : undefined;
  if (found === undefined) return false;
  const fields = ['status', 'reason', 'observedGeneration'];
  const told = ready['reason'] === 'PoolExhausted' ? holdersIn : String;
  return fields.every((field) => found[field] === ready[field]) && told(found['message']) === told(ready['message']);
}

/** The holders that a message about a small pool names are kept exact. */
function holdersIn(message: unknown): string {
  return /\(.*\)/.exec(String(message))?.[0] ?? '';
}
