import {
  draftAllocationRecord,
  holderOfAllocation,
  isRecordOfAllocation,
} from '#controller/allocation-plan/allocation-record.ts';
import type { AllocationStep } from '#controller/allocation-plan/allocation-step.ts';
import type { ObservedAllocation } from '#controller/allocation-plan/observed-allocation.ts';
import type { AbandonedCreates } from '#controller/give/abandoned-creates.ts';
import { findLanding } from '#controller/give/find-landing.ts';
import { findLateRecords } from '#controller/give/find-late-records.ts';
import { type Ending, NOT_LEADER_MS, SOON_MS, takeExactly, takeLowest } from '#controller/give/take-address.ts';
import { FailedRequest, type Pass } from '#controller/reconcile/reconciler.ts';
import type { Address } from '#pkg/ip/address.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Events } from '#pkg/kube/events/events.ts';
import { apiVersionOf } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';
import { IP_ALLOCATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import type { Ledger } from '#pkg/ledger/ledger.ts';
import type { IpRecord } from '#pkg/record/ip-record.ts';
import { type IpAllocation, readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { ALLOCATION_FINALIZER } from '#pkg/vitistack/vitistack-names.ts';
import type { AllocationSources } from './allocation-observer.ts';

export interface AllocationDeps extends AllocationSources {
  readonly client: KubeClient;
  readonly ledger: Pick<Ledger, 'create' | 'amend' | 'release' | 'get'>;
  readonly events: Events;
  readonly isLeader: () => boolean;
  readonly abandoned: AbandonedCreates;
}

export type AllocationDeed = Exclude<AllocationStep, { do: 'rest' }>;

/** Carries out one step. What it wrote is in the sources when it returns. */
export async function carryOutAllocation(
  step: AllocationDeed,
  seen: ObservedAllocation,
  deps: AllocationDeps,
  { write }: Pass,
): Promise<Ending> {
  const { client, allocations } = deps;
  const { allocation } = seen;
  const { namespace, name, uid, resourceVersion, networkConfiguration } = allocation;
  const patch = async (what: string, change: { metadata?: object; status?: object }): Promise<Ending> => {
    const body = { ...change, metadata: { uid, resourceVersion, ...change.metadata } };
    const options = change.status === undefined ? {} : { subresource: 'status' as const };
    const written = await write(`${what} of IPAllocation ${keyOf(allocation)}`, () =>
      client.patch(IP_ALLOCATIONS, { namespace, name }, body, options),
    );
    if (!('object' in written)) return written.requeueMs ?? 'stop';
    allocations.wrote(written.object);
    return 'again';
  };

  switch (step.do) {
    case 'write-metadata':
      if ('ownerReferences' in step.metadata && !isNew(allocation) && !(await isOwnerThere(seen, deps))) return 'again';
      return patch('the metadata', { metadata: step.metadata });
    case 'write-status': {
      const ending = await patch('the status', { status: step.status });
      if (ending === 'again') emitChange(allocation, step.status, deps.events);
      return ending;
    }
    case 'take':
      return take(step.address, seen, deps);
    case 'name-record':
      return nameRecord(step.record, allocation, deps);
    case 'look-for-configuration':
      await deps.configurations.look({ namespace, name: networkConfiguration });
      return 'again';
    case 'release':
      if (step.isReclaimed && !(await deps.configurations.look({ namespace, name: networkConfiguration })))
        return 'again';
      return giveBack(step.record, deps);
    case 'remove-finalizer':
      return (
        (await findLeftovers(allocation, deps)) ??
        patch('the finalizer', {
          metadata: { finalizers: allocation.finalizers.filter((it) => it !== ALLOCATION_FINALIZER) },
        })
      );
  }
}

/** What was made for it, or may still be, and no watch has shown. Null: nothing. */
async function findLeftovers(allocation: IpAllocation, deps: AllocationDeps): Promise<Ending | null> {
  const isOwn = (record: IpRecord) => isRecordOfAllocation(record, allocation);
  if (await findLateRecords(isOwn, deps)) return 'again';
  return findLanding(allocation.uid, isOwn, deps);
}

/** Nothing uses it yet. */
function isNew({ finalizers, owners, phase }: IpAllocation): boolean {
  return finalizers.length === 0 && owners.length === 0 && phase === null;
}

/** Asks the API server: the garbage collector deletes what an owner of the past has, and the watch may be late. */
async function isOwnerThere({ allocation, configuration }: ObservedAllocation, { configurations }: AllocationDeps) {
  const at = { namespace: allocation.namespace, name: allocation.networkConfiguration };
  if (await configurations.look(at)) return false;
  const now = configurations.find(at)?.metadata;
  return now !== undefined && now.uid === configuration?.uid && now.deletionTimestamp === undefined;
}

/**
 * Reads the IPAllocation before something new is made for it, unless this pass has written to it: the watch may be late, and what is
 * made for an object that is gone would never be given back.
 */
export async function confirmAllocation(
  { namespace, name, uid }: IpAllocation,
  { client, allocations }: Pick<AllocationDeps, 'client' | 'allocations'>,
): Promise<void> {
  const found = await client.get(IP_ALLOCATIONS, { namespace, name });
  if (found.ok) allocations.wrote(found.object);
  else if (found.because === 'NotFound') allocations.deleted({ namespace, name, uid });
  else throw new FailedRequest(`IPAllocation ${namespace}/${name}`, found);
}

async function take(address: Address | null, seen: ObservedAllocation, deps: AllocationDeps): Promise<Ending> {
  const { allocation, facts } = seen;
  const pool = facts?.pool ?? null;
  if (facts === null || pool === null) return 'again';
  const taker = {
    draft: (chosen: Address) => draftAllocationRecord(pool, chosen, allocation),
    isOwn: (record: IpRecord) => isRecordOfAllocation(record, allocation),
    onAbandoned: (name: string) => deps.abandoned.add(allocation.uid, name),
  };
  return deps.domains.during(pool, () =>
    address === null ? takeLowest(facts, taker, deps) : takeExactly(address, taker, deps),
  );
}

async function nameRecord(record: IpRecord, allocation: IpAllocation, deps: AllocationDeps): Promise<Ending> {
  const { ledger, records, isLeader } = deps;
  if (record.spec.holder.name !== allocation.name && !(await hasVanished(record, deps))) return 'again';
  if (!isLeader()) return NOT_LEADER_MS;
  const outcome = await ledger.amend(record, { ...record.spec, holder: holderOfAllocation(allocation) });
  if (!outcome.done) return SOON_MS;
  records.wrote(outcome.record);
  return 'again';
}

/** Asks the API server: a watch may not show an IPAllocation yet. */
async function hasVanished(record: IpRecord, { client, allocations }: AllocationDeps): Promise<boolean> {
  const { namespace, name } = record.spec.holder;
  const found = await client.get(IP_ALLOCATIONS, { namespace, name });
  if (!found.ok && found.because !== 'NotFound') throw new FailedRequest(`IPAllocation ${namespace}/${name}`, found);
  if (!found.ok) return true;
  allocations.wrote(found.object);
  const there = readIpAllocation(found.object);
  return there !== null && !isRecordOfAllocation(record, there);
}

export async function giveBack(
  record: IpRecord,
  { ledger, records, isLeader }: Pick<AllocationDeps, 'ledger' | 'records' | 'isLeader'>,
): Promise<Ending> {
  if (!isLeader()) return NOT_LEADER_MS;
  const outcome = await ledger.release(record);
  if (!outcome.done && outcome.because === 'changed') return SOON_MS;
  records.released(record);
  return 'again';
}

/** Success is said by the status alone: an Event would be one more write for each IPAllocation. */
function emitChange(
  { namespace, name, uid }: IpAllocation,
  status: Readonly<Record<string, unknown>>,
  events: Events,
): void {
  if (status['phase'] !== 'Error' && !('message' in status && status['phase'] === undefined)) return;
  if (typeof status['message'] !== 'string') return;
  const regarding = { apiVersion: apiVersionOf(IP_ALLOCATIONS), kind: IP_ALLOCATIONS.kind, namespace, name, uid };
  events.emit({ regarding, type: 'Warning', reason: 'AllocationNote', note: status['message'] });
}
