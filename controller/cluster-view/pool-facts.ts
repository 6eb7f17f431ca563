import { decodeCooldownSeconds } from '#pkg/crd/reuse-cooldown.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Resource } from '#pkg/kube/objects/resource.ts';

export const POOLS: Resource = {
  group: 'spiderpool.spidernet.io',
  version: 'v2beta1',
  plural: 'spiderippools',
  kind: 'SpiderIPPool',
};

/** Of a pool's metadata; whoever needs its spec reads it when the generation moves. */
export interface PoolFacts {
  readonly uid: string;
  readonly generation: number;
  readonly isTerminating: boolean;
  readonly cooldownSeconds: number;
}

export function toPoolFacts({ metadata }: KubeObject): PoolFacts {
  const { uid, generation = 0, deletionTimestamp, annotations = {} } = metadata;
  return { uid, generation, isTerminating: deletionTimestamp !== undefined, cooldownSeconds: cooldownOf(annotations) };
}

/** Admission tells who wrote nonsense; here it means no cooldown. */
function cooldownOf(annotations: Readonly<Record<string, string>>): number {
  try {
    return decodeCooldownSeconds(annotations);
  } catch {
    return 0;
  }
}
