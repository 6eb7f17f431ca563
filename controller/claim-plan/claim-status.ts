import { settleConditions } from '#controller/project/condition.ts';
import type { Claim } from '#pkg/capi/read-claim.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';

/** What the contract of Cluster API calls the reasons of a claim that is not Ready. */
type ClaimFailure = 'PoolNotReady' | 'PoolExhausted' | 'AllocationFailed';

/** The Ready condition as it should be. */
export type ClaimVerdict =
  | { readonly isReady: true; readonly message: string }
  | {
      readonly isReady: false;
      readonly reason: ClaimFailure;
      readonly message: string;
      /** The words are of the API server, a quota or a webhook. */
      readonly isOfOthers?: true;
    };

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
  const told = verdict.isReady ? String : whatIsTold(verdict);
  if (isNamed && isSaid(conditions, ready, told)) return null;
  return {
    ...(verdict.isReady ? { addressRef: { name } } : {}),
    conditions: settleConditions(conditions, [ready], { ours: ['Ready'], now }),
  };
}

function isSaid(
  conditions: unknown,
  ready: Readonly<Record<string, unknown>>,
  told: (message: unknown) => string,
): boolean {
  const found = Array.isArray(conditions) ? conditions.filter(isMap).find(({ type }) => type === 'Ready') : undefined;
  if (found === undefined) return false;
  const fields = ['status', 'reason', 'observedGeneration'];
  return fields.every((field) => found[field] === ready[field]) && told(found['message']) === told(ready['message']);
}

/**
 * What of a message has to be as it is now. How many claims wait changes with every claim: to keep that exact would cost a write for each
 * claim that goes on waiting, whenever one address is freed. The words of others may have a time or a number of their own in each try.
 */
function whatIsTold({ reason, isOfOthers }: Extract<ClaimVerdict, { isReady: false }>): (message: unknown) => string {
  if (reason === 'PoolExhausted') return (message) => String(message).replace(/, \d+ claims? waits?$/, '');
  return isOfOthers === true ? (message) => String(message).replaceAll(/\S*\d\S*/g, '#') : String;
}
