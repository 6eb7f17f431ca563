import type { Address } from '#pkg/ip/address.ts';
import { apiVersionOf } from '#pkg/kube/objects/kube-object.ts';
import { NETWORK_CONFIGURATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import {
  allocatedSpec,
  type Holder,
  type IpRecord,
  isHeldState,
  isSameMachine,
  type RecordSpec,
} from '#pkg/record/ip-record.ts';
import type { IpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';

export function draftAllocationRecord(pool: Pool, address: Address, allocation: IpAllocation): RecordSpec {
  return allocatedSpec(pool, address, holderOfAllocation(allocation), 'NetworkNamespace');
}

/** A VM's address is on no node that we know. By the owner in the record it is known whose address it was when the IPAllocation has vanished. */
export function holderOfAllocation({ namespace, name, uid, networkConfiguration }: IpAllocation): Holder {
  const { kind } = NETWORK_CONFIGURATIONS;
  const owner = { apiVersion: apiVersionOf(NETWORK_CONFIGURATIONS), kind, name: networkConfiguration };
  return { kind: 'IPAllocation', namespace, name, uid, interface: '', attachGeneration: 1, node: '', owner };
}

/** Whether it is an address of the same machine, whichever of its IPAllocations it was given to. */
export function isOfSameMachine({ spec: { holder, state } }: IpRecord, allocation: IpAllocation): boolean {
  return isHeldState(state) && isSameMachine(holder, holderOfAllocation(allocation));
}

/**
 * Whether the record is of this IPAllocation. One of its name that vanished without giving its address back had another uid: if it
 * was of the same NetworkConfiguration, its address is still that machine's, and this one goes on with it.
 */
export function isRecordOfAllocation({ spec }: IpRecord, allocation: IpAllocation): boolean {
  const { kind, namespace, name, uid, owner } = spec.holder;
  const isNamed = kind === 'IPAllocation' && namespace === allocation.namespace && name === allocation.name;
  if (!isNamed || !isHeldState(spec.state)) return false;
  return uid === allocation.uid || owner === undefined || owner.name === allocation.networkConfiguration;
}
