import type { CallOptions } from '#pkg/kube/client/caller.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject, SeenObject } from '#pkg/kube/objects/kube-object.ts';
import type { Resource } from '#pkg/kube/objects/resource.ts';
import { type Definite, type DefiniteOptions, untilDefinite, type WriteVerdict } from './until-definite.ts';

export interface UpdateDefiniteOptions extends DefiniteOptions {
  /** Whether the object is now as this call wrote it. */
  readonly isOurs: (found: KubeObject) => boolean;
  readonly subresource?: 'status';
}

/**
 * A conditional update, done at most once: a try that comes late finds another resourceVersion and is refused. So a
 * conflict after an unanswered try is either our own write or a stranger's, and the object tells which.
 */
export function updateDefinite(
  client: KubeClient,
  resource: Resource,
  object: SeenObject,
  { isOurs, subresource, ...options }: UpdateDefiniteOptions,
): Promise<Definite<KubeObject>> {
  const part = subresource === undefined ? {} : { subresource };
  const attempt = async (call: CallOptions, mayHaveLanded: boolean): Promise<WriteVerdict<KubeObject>> => {
    const outcome = await client.update(resource, object, { ...call, ...part });
    if (outcome.ok || outcome.because === 'NotFound') return { outcome, isFinal: true };
    if (outcome.because !== 'Conflict' || !mayHaveLanded) return { outcome, isFinal: false };
    const found = await client.get(resource, object.metadata, call);
    if (found.ok) return { outcome: isOurs(found.object) ? found : outcome, isFinal: true };
    return { outcome: found, isFinal: found.because === 'NotFound' };
  };
  return untilDefinite(client.timing, options, { attempt, canLandLate: false });
}
