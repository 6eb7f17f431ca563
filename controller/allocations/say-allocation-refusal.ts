import { planAllocationStatus } from '#controller/allocation-plan/allocation-status.ts';
import type { AllocationStep } from '#controller/allocation-plan/allocation-step.ts';
import type { ObservedAllocation } from '#controller/allocation-plan/observed-allocation.ts';
import { describeRefusal } from '#controller/reconcile/describe-refusal.ts';
import type { Pass } from '#controller/reconcile/reconciler.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { readAllocationAt } from './allocation-observer.ts';
import { type AllocationDeps, carryOutAllocation } from './carry-out-allocation.ts';
import type { StatusPace } from './status-pace.ts';

const MAKES_SOMETHING: readonly AllocationStep['do'][] = ['write-metadata', 'take', 'name-record'];

/** Says on the IPAllocation why it gets no address although one is free. It is tried again all the same. */
export async function sayAllocationRefusal(
  step: AllocationStep,
  thrown: unknown,
  seen: ObservedAllocation,
  { deps, pass, pace }: { readonly deps: AllocationDeps; readonly pass: Pass; readonly pace: StatusPace },
): Promise<void> {
  const key = keyOf(seen.allocation);
  const message = MAKES_SOMETHING.includes(step.do) ? describeRefusal(thrown) : null;
  const allocation = readAllocationAt(deps, key);
  // One that has its address keeps phase and message: they are about the address.
  if (message === null || allocation === null || allocation.isDeleting || seen.records.length > 0) return;
  deps.refused.add(key);
  // The page has no way from nothing to Error.
  const phase = allocation.phase === null ? 'Pending' : 'Error';
  const status = planAllocationStatus(allocation, { phase, message });
  // The words of a refusal may be others each time, and each write of ours wakes the IPAllocation.
  if (status === null || pace.waitMs(key) > 0) return;
  const written = carryOutAllocation({ do: 'write-status', status, why: 'waits' }, { ...seen, allocation }, deps, pass);
  // If this fails too, the first failure is the one that is reported.
  if ((await written.catch(() => 'stop')) === 'again') pace.wrote(key);
}
