import type { Family } from '#pkg/ip/address.ts';
import type { Holder, IpRecord } from './ip-record.ts';

/** The same workload: what a Retained record waits for. Its pod may be another one. */
export function isSameHolder(
  a: Pick<Holder, 'kind' | 'namespace' | 'name'>,
  b: Pick<Holder, 'kind' | 'namespace' | 'name'>,
): boolean {
  return a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
}

type Nic = Pick<Holder, 'kind' | 'namespace' | 'name' | 'uid' | 'interface'>;

/** The same interface of the same pod, whichever of its sandboxes asks. */
export function isSameNic(a: Nic, b: Nic): boolean {
  return isSameHolder(a, b) && a.uid === b.uid && a.interface === b.interface;
}

/** The stable key: who holds an address, over all restarts and containers. None of the parts can contain a slash. */
export function holderKey(holder: Pick<Holder, 'kind' | 'namespace' | 'name' | 'interface'>, family: Family): string {
  return [holder.kind, holder.namespace, holder.name, holder.interface, family].join('/');
}

export interface StickySwitches {
  readonly enableStatefulSet: boolean;
  readonly enableKubevirtStaticIP: boolean;
}

const ORDINAL = /^(?:0|[1-9]\d{0,9})$/;

/** Rule 7: StatefulSet pods by their ordinal, and virtual machines; where the owner was read, by what it said (rule 10). */
export function isStickyHolder(
  { kind, name, owner, sticky }: Pick<Holder, 'kind' | 'name' | 'owner' | 'sticky'>,
  switches: StickySwitches,
): boolean {
  if (sticky === false) return false;
  if (kind === 'VirtualMachineInstance') return switches.enableKubevirtStaticIP;
  if (kind !== 'Pod' || !switches.enableStatefulSet) return false;
  return owner !== undefined && isStatefulSet(owner) && ordinalOf(name, owner.name) !== null;
}

/** A static pod, which runs without its API object. Records of older agents are not marked: their owner is the node. */
export function isStaticHolder({ kind, owner, static: isMarked }: Pick<Holder, 'kind' | 'owner' | 'static'>): boolean {
  return isMarked ?? (kind === 'Pod' && owner?.apiVersion === 'v1' && owner.kind === 'Node');
}

/** Only that of Kubernetes itself: which ordinals other kinds of that name want is not known. */
export function isStatefulSet(owner: { readonly apiVersion: string; readonly kind: string } | null): boolean {
  return owner?.apiVersion === 'apps/v1' && owner.kind === 'StatefulSet';
}

/** The number of a StatefulSet's pod; null for a pod that is not named like one. */
export function ordinalOf(podName: string, setName: string): number | null {
  if (!podName.startsWith(`${setName}-`)) return null;
  const text = podName.slice(setName.length + 1);
  return ORDINAL.test(text) ? Number(text) : null;
}

/** KubeVirt's own kind only: what a third party calls by the same name is an owner like any other. */
export function isVirtualMachine<T extends { readonly apiVersion: string; readonly kind: string }>(
  controller: T | null,
): controller is T {
  return controller?.kind === 'VirtualMachineInstance' && controller.apiVersion.startsWith('kubevirt.io/');
}

/** `Container prod/web-0 eth0 on worker-1`, for people. */
export function describeHolder({ spec }: IpRecord): string {
  const { kind, namespace, name, interface: nic, node } = spec.holder;
  const state = spec.state === 'Allocated' ? '' : ` (${spec.state})`;
  return `${kind} ${namespace === '' ? name : `${namespace}/${name}`} ${nic} on ${node}${state}`;
}
