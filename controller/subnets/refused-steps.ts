import type { AutoPoolStep } from '#controller/allot/plan-auto-pools.ts';
import type { Wanted } from '#controller/allot/subnet-situation.ts';
import { FailedRequest } from '#controller/reconcile/reconciler.ts';
import type { FailureKind } from '#pkg/kube/objects/outcome.ts';

/** A step of a plan that ended with an error. */
export interface FailedStep {
  readonly step: AutoPoolStep;
  readonly thrown: unknown;
}

/** The API server will not have the pool as it is planned, for example because of a policy of the cluster. */
export interface RefusedStep {
  readonly wanted: Wanted;
  readonly why: string;
}

/** The same request would be refused again. Everything else may pass soon, and is tried again with backoff. */
const REFUSALS: readonly FailureKind[] = ['Invalid', 'Forbidden'];

/** What concerns one application alone, and what may concern all. A refused delete is neither: it is tried again at leisure. */
export function sortFailed(all: readonly FailedStep[]): {
  readonly refused: RefusedStep[];
  readonly failed: unknown[];
} {
  const [refused, failed]: [RefusedStep[], unknown[]] = [[], []];
  for (const { step, thrown } of all) {
    if (!isRefusal(thrown)) failed.push(thrown);
    else if (step.do !== 'delete')
      refused.push({ wanted: step.wanted, why: `the API server refuses its pool: ${thrown.failure.message}` });
  }
  return { refused, failed };
}

function isRefusal(thrown: unknown): thrown is FailedRequest {
  return thrown instanceof FailedRequest && REFUSALS.includes(thrown.failure.because);
}
