import { planClaimStatus } from '#controller/claim-plan/claim-status.ts';
import type { ClaimStep } from '#controller/claim-plan/claim-step.ts';
import type { ObservedClaim } from '#controller/claim-plan/observed-claim.ts';
import { describeRefusal } from '#controller/reconcile/describe-refusal.ts';
import type { Pass } from '#controller/reconcile/reconciler.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { carryOutStep, type StepDeps } from './carry-out-step.ts';
import { readClaimAt } from './claim-observer.ts';

const MAKES_SOMETHING: readonly ClaimStep['do'][] = ['take', 'name-record', 'create-address', 'adopt-address'];

/** Says on the claim why it gets no address although one is free. It is tried again all the same. */
export async function sayRefusal(
  step: ClaimStep,
  thrown: unknown,
  seen: ObservedClaim,
  deps: StepDeps,
  pass: Pass,
): Promise<void> {
  const message = MAKES_SOMETHING.includes(step.do) ? describeRefusal(thrown) : null;
  const claim = readClaimAt(deps, keyOf(seen.claim));
  if (message === null || claim === null || claim.isDeleting) return;
  const verdict = { isReady: false, reason: 'AllocationFailed', message, isOfOthers: true } as const;
  const status = planClaimStatus(claim, verdict, deps.now());
  if (status === null) return;
  // If this fails too, the first failure is the one that is reported.
  const write = carryOutStep({ do: 'write-status', status, why: 'allocation-failed' }, { ...seen, claim }, deps, pass);
  await write.catch(() => 'stop');
}
