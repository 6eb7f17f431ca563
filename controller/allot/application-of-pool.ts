import { affinityApplication } from '#pkg/pool/auto-pool.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { Controller } from '#pkg/pool/request.ts';

/** Null for a pool that was not made for an application, or does not say for which. */
export function applicationOfPool({ auto, podAffinity }: Pick<Pool, 'auto' | 'podAffinity'>): Controller | null {
  const application = affinityApplication(podAffinity?.matchLabels ?? {});
  return auto === null || application === null ? null : { ...application, uid: auto.applicationUid };
}
