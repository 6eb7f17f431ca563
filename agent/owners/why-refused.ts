import type { NodePod } from '#agent/sources/pods.ts';
import { isOrdinalIn } from '#pkg/kube/objects/sticky-owners.ts';
import { ordinalOf } from '#pkg/record/ip-record.ts';
import type { SeenMigration, SeenOwner } from './seen-owner.ts';

/** KubeVirt's own label on the pod that a VMI migrates to: the UID of the migration. */
const MIGRATION_UID_LABEL = 'kubevirt.io/migrationJobUID';
const FINAL_PHASES = ['Succeeded', 'Failed'];

interface Claimed {
  readonly name: string;
  readonly uid: string;
}

/** Why this StatefulSet does not want this pod; null: it does. */
export function whySetRefuses({ namespace, name }: NodePod, claimed: Claimed, seen: SeenOwner): string | null {
  const set = `StatefulSet ${namespace}/${claimed.name}`;
  if (seen.uid !== claimed.uid) return `${set} has UID ${seen.uid}, and the pod names ${claimed.uid}`;
  const ordinal = ordinalOf(name, claimed.name);
  if (seen.ordinals === null) return `the replicas of ${set} cannot be read`;
  if (ordinal !== null && isOrdinalIn(ordinal, seen.ordinals)) return null;
  const { first, end } = seen.ordinals;
  return `${set} wants ${end > first ? `ordinals ${first} to ${end - 1}` : 'no pod'}, not ${name}`;
}

/** Why this VMI has no such launcher pod; null: it may have it. */
export function whyVmiRefuses({ namespace }: NodePod, claimed: Claimed, seen: SeenOwner): string | null {
  const vmi = `VirtualMachineInstance ${namespace}/${claimed.name}`;
  if (seen.uid !== claimed.uid) return `${vmi} has UID ${seen.uid}, and the pod names ${claimed.uid}`;
  return seen.isBeingDeleted ? `${vmi} is being deleted` : null;
}

/** Why this pod is not the target of this migration; null: it is. */
export function whyNoTarget(pod: NodePod, vmi: SeenOwner & Claimed, seen: SeenMigration): string | null {
  if (seen.vmi !== vmi.name) return `it migrates ${seen.vmi || 'nothing'}, not ${vmi.name}`;
  if (FINAL_PHASES.includes(seen.phase)) return `it is over (${seen.phase})`;
  const labelled = pod.labels[MIGRATION_UID_LABEL];
  if (labelled !== undefined && labelled !== seen.uid) return `it has UID ${seen.uid}, and the pod names ${labelled}`;
  const { migration } = vmi;
  const target = migration?.uid === seen.uid ? migration.targetPod : '';
  return target === '' || target === pod.name ? null : `its target is pod ${target}`;
}
