import type { AutoPoolStep } from '#controller/allot/plan-auto-pools.ts';
import { FailedRequest } from '#controller/reconcile/reconciler.ts';
import type { FailureKind } from '#pkg/kube/objects/outcome.ts';

/** A step of a plan that ended with an error. */
export interface FailedStep {
  readonly step: AutoPoolStep;
  readonly thrown: unknown;
}

/** The API server will not have the pool as it is planned, for example because of a policy of the cluster. */
export interface RefusedStep {
  readonly step: AutoPoolStep;
  readonly why: string;
}

/** What may be refused again and again. Everything else may pass soon, and is tried again with backoff. */
const REFUSALS: readonly FailureKind[] = ['Invalid', 'Forbidden'];

/** What concerns one application alone, and what may concern all. */
export function sortFailed(all: readonly FailedStep[]): {
  readonly refused: RefusedStep[];
  readonly failed: unknown[];
} {
  const [refused, failed]: [RefusedStep[], unknown[]] = [[], []];
  for (const { step, thrown } of all) {
    if (isRefusal(thrown)) refused.push({ step, why: `the API server refuses its pool: ${thrown.failure.message}` });
    else failed.push(thrown);
  }
  return { refused, failed };
}

function isRefusal(thrown: unknown): thrown is FailedRequest {
  return thrown instanceof FailedRequest && REFUSALS.includes(thrown.failure.because);
}

const FIRST_AGAIN_MS = 100;
/** The caches of controller and webhook are less far apart than this. */
const LASTING_AFTER_MS = 3_000;
/** There is no event when an admission policy of the cluster changes. */
const LASTING_AGAIN_MS = 30_000;

/**
 * Since when steps are refused. The webhook may have seen a pod or pool that the plan had not, so at first a refusal says nothing: the
 * step is planned anew, after ever longer pauses. What is refused for longer is a shortage.
 */
export class RefusedSteps {
  /** By subnet, then by pool. */
  readonly #sinceMs = new Map<string, ReadonlyMap<string, number>>();

  /** All that a pass was refused; `againInMs` is null where that is nothing. */
  note(
    subnet: string,
    refused: readonly RefusedStep[],
    nowMs: number,
  ): { readonly lasting: readonly RefusedStep[]; readonly againInMs: number | null } {
    const before = this.#sinceMs.get(subnet);
    const sinceMs = new Map(refused.map(({ step: { name } }) => [name, before?.get(name) ?? nowMs]));
    if (sinceMs.size === 0) this.#sinceMs.delete(subnet);
    else this.#sinceMs.set(subnet, sinceMs);
    const forMs = ({ step }: RefusedStep) => nowMs - (sinceMs.get(step.name) ?? nowMs);
    const isLasting = (it: RefusedStep) => forMs(it) >= LASTING_AFTER_MS;
    const pauses = refused.map((it) => (isLasting(it) ? LASTING_AGAIN_MS : Math.max(FIRST_AGAIN_MS, forMs(it))));
    return { lasting: refused.filter(isLasting), againInMs: pauses.length === 0 ? null : Math.min(...pauses) };
  }
}
