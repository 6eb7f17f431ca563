import type { Holder } from './ip-record.ts';

export interface StickySwitches {
  readonly enableStatefulSet: boolean;
  readonly enableKubevirtStaticIP: boolean;
}

const ORDINAL = /^(?:0|[1-9]\d{0,9})$/;

/** Rule 7: StatefulSet pods by their ordinal, and virtual machines. */
export function isStickyHolder(
  { kind, name, owner }: Pick<Holder, 'kind' | 'name' | 'owner'>,
  switches: StickySwitches,
): boolean {
  if (kind === 'VirtualMachineInstance') return switches.enableKubevirtStaticIP;
  if (kind !== 'Pod' || !switches.enableStatefulSet) return false;
  return owner !== undefined && isStatefulSet(owner) && ordinalOf(name, owner.name) !== null;
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
