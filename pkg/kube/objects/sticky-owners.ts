import { isMap, type KubeObject, type Resource } from './kube-object.ts';

export const STATEFUL_SETS: Resource = { group: 'apps', version: 'v1', plural: 'statefulsets', kind: 'StatefulSet' };
export const VMIS: Resource = kubevirt('virtualmachineinstances', 'VirtualMachineInstance');
export const VMS: Resource = kubevirt('virtualmachines', 'VirtualMachine');
export const VMI_MIGRATIONS: Resource = kubevirt('virtualmachineinstancemigrations', 'VirtualMachineInstanceMigration');

/** The ordinals that a StatefulSet wants: from `first` up to, but not including, `end`. */
export interface OrdinalRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Reads `spec` only. A pod beyond the range is deleted when the set scales down. While the set is being deleted, with or without
 * its pods, it still is their owner. Null: the API server would refuse such a spec.
 */
export function wantedOrdinals({ spec }: KubeObject): OrdinalRange | null {
  const { replicas = 1, ordinals } = isMap(spec) ? spec : {};
  const first = isMap(ordinals) ? (ordinals['start'] ?? 0) : 0;
  return typeof replicas === 'number' && typeof first === 'number' ? { first, end: first + replicas } : null;
}

export function isOrdinalIn(ordinal: number, { first, end }: OrdinalRange): boolean {
  return first <= ordinal && ordinal < end;
}

/** A VMI that is being deleted gets no further launcher pod. */
export function isWantedVmi({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp === undefined;
}

function kubevirt(plural: string, kind: string): Resource {
  return { group: 'kubevirt.io', version: 'v1', plural, kind };
}
