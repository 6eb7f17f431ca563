import { decodeCooldownSeconds } from '#pkg/crd/reuse-cooldown.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';

/** A value that cannot be read means no cooldown; admission has refused it to its author. */
export function cooldownSecondsOf(pool: KubeObject | null): number {
  try {
    return decodeCooldownSeconds(pool?.metadata.annotations ?? {});
  } catch {
    return 0;
  }
}
