import { isMap, type KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { PAUSED_ANNOTATION } from './contract-names.ts';

/** Only a literal true pauses by `spec.paused`; the annotation pauses with any value. */
export function isPausedCluster({ metadata, spec }: KubeObject): boolean {
  return hasPauseMark({ metadata }) || (isMap(spec) && spec['paused'] === true);
}

/** The annotation that pauses clusters, claims and pools alike. */
export function hasPauseMark({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, PAUSED_ANNOTATION);
}
