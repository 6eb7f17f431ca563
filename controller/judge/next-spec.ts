import type { PodFacts } from '#controller/cluster-view/pod-facts.ts';
import { vmiOf } from '#controller/cluster-view/pod-table.ts';
import { omitAbsent } from '#pkg/decode/untrusted.ts';
import type { Holder, RecordSpec } from '#pkg/record/ip-record.ts';
import { toRetained } from '#pkg/record/released-spec.ts';

/** Without proof the traces of the sandbox stay, and with them the doubt whether it still runs. */
export function toRetainedBy(spec: RecordSpec, isProven: boolean): RecordSpec {
  return isProven ? toRetained(spec) : { ...spec, state: 'Retained' };
}

export function toSuspect(spec: RecordSpec): RecordSpec {
  return { ...spec, state: 'Suspect' };
}

/** The record as the pod that has the address needs it. Nothing is known of its sandbox, unless the record is of this very pod. */
export function toAllocated({ until: _, ...spec }: RecordSpec, pod: PodFacts): RecordSpec {
  const { containerID, netns, netnsInode, bootID, machineID, ...holder } = spec.holder;
  const known = { containerID, netns, netnsInode, bootID, machineID, network: holder.network };
  const sandbox = holder.uid === pod.uid ? omitAbsent(known) : {};
  const nic = holder.interface === '' ? 'eth0' : holder.interface;
  const who = isNamedAfter(holder, pod) ? holder : { ...holderFrom(pod), interface: nic };
  const { uid, node } = pod;
  return {
    ...spec,
    state: 'Allocated',
    holder: { ...who, ...sandbox, uid, node, attachGeneration: holder.attachGeneration + 1 },
  };
}

/** `status.podIPs` are those of the first interface, which every runtime calls eth0. */
export function holderFrom(pod: PodFacts): Holder {
  const { namespace, name, uid, node, controller } = pod;
  const vmi = vmiOf(pod);
  const owner = controller === null ? {} : { owner: ownerOf(controller) };
  const who = vmi === null ? { kind: 'Pod' as const, name } : { kind: 'VirtualMachineInstance' as const, name: vmi };
  return { ...who, namespace, uid, interface: 'eth0', attachGeneration: 1, node, ...owner };
}

function ownerOf({ apiVersion, kind, name }: NonNullable<PodFacts['controller']>): NonNullable<Holder['owner']> {
  return { apiVersion, kind, name };
}

/** Whether the record says this pod's name, or that of the VMI it runs. */
export function isNamedAfter(
  { kind, namespace, name }: Pick<Holder, 'kind' | 'namespace' | 'name'>,
  pod: PodFacts,
): boolean {
  if (namespace !== pod.namespace) return false;
  return kind === 'VirtualMachineInstance' ? name === vmiOf(pod) : kind === 'Pod' && name === pod.name;
}
