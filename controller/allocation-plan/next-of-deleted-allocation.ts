import { foreignFinalizers } from '#pkg/kube/objects/foreign-finalizers.ts';
import { ALLOCATION_FINALIZER } from '#pkg/vitistack/vitistack-names.ts';
import { NO_ADDRESS, planAllocationStatus } from './allocation-status.ts';
import type { AllocationStep } from './allocation-step.ts';
import type { ObservedAllocation } from './observed-allocation.ts';

/** The steps: phase Released, record, finalizer. The deletion of an IPAllocation gives its address back at once, also before its time is over. */
export function nextOfDeletedAllocation({ allocation, records }: ObservedAllocation): AllocationStep {
  const { finalizers } = allocation;
  if (foreignFinalizers(finalizers, ALLOCATION_FINALIZER).length > 0) return { do: 'rest', why: 'in-use-by-others' };
  const [record] = records;
  if (record === undefined) {
    const isOurs = finalizers.includes(ALLOCATION_FINALIZER);
    return isOurs ? { do: 'remove-finalizer' } : { do: 'rest', why: 'finalizer-stripped' };
  }
  const wanted = { phase: 'Released', message: `${record.spec.address} is given back`, ...NO_ADDRESS } as const;
  const status = planAllocationStatus(allocation, wanted);
  if (status !== null) return { do: 'write-status', status, why: 'released' };
  return { do: 'release', record, isReclaimed: false };
}
