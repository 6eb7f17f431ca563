import { isMap, type KubeObject, type ObjectName, type Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import { isWantedVmi, type OrdinalRange, wantedOrdinals } from '#pkg/kube/objects/sticky-owners.ts';

/** An uncached read of one object. It never rejects. */
export type ReadObject = (resource: Resource, at: ObjectName) => Promise<Outcome<KubeObject>>;

/** What is kept of an owner that was read. The object itself may be large. */
export interface SeenOwner {
  readonly uid: string;
  /** The ordinals that a StatefulSet wants; null for other kinds. */
  readonly ordinals: OrdinalRange | null;
  readonly isBeingDeleted: boolean;
  /** The migration in the status of a VMI, once KubeVirt has handed it over to the nodes. */
  readonly migration: { readonly uid: string; readonly targetPod: string } | null;
}

export function toSeenOwner(object: KubeObject): SeenOwner {
  return {
    uid: object.metadata.uid,
    ordinals: wantedOrdinals(object),
    isBeingDeleted: !isWantedVmi(object),
    migration: migrationOf(object),
  };
}

/** Of a VirtualMachineInstanceMigration. */
export interface SeenMigration {
  readonly uid: string;
  readonly vmi: string;
  readonly phase: string;
}

export function toSeenMigration({ metadata, spec, status }: KubeObject): SeenMigration {
  return { uid: metadata.uid, vmi: textOf(spec, 'vmiName'), phase: textOf(status, 'phase') };
}

function migrationOf({ status }: KubeObject): SeenOwner['migration'] {
  const state = isMap(status) ? status['migrationState'] : undefined;
  return isMap(state) ? { uid: textOf(state, 'migrationUid'), targetPod: textOf(state, 'targetPod') } : null;
}

function textOf(part: unknown, field: string): string {
  const value = isMap(part) ? part[field] : undefined;
  return typeof value === 'string' ? value : '';
}
