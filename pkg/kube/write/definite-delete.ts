import type { CallOptions } from '#pkg/kube/client/caller.ts';
import type { KubeClient, Seen } from '#pkg/kube/client/client.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import type { Outcome } from '#pkg/kube/objects/outcome.ts';
import type { Resource } from '#pkg/kube/objects/resource.ts';
import { type Definite, type DefiniteOptions, untilDefinite, type WriteVerdict } from './until-definite.ts';

const GONE: Outcome<null> = { ok: true, object: null };

/**
 * Deletes exactly the object that was seen. After an unanswered try its absence counts as done, whoever did it: the
 * uid never comes back. An object that is only marked, and still there because of its finalizers, comes back.
 */
export function deleteDefinite(
  client: KubeClient,
  resource: Resource,
  seen: Seen,
  options: DefiniteOptions,
): Promise<Definite<KubeObject | null>> {
  const attempt = async (call: CallOptions, mayHaveLanded: boolean): Promise<WriteVerdict<KubeObject | null>> => {
    const outcome = await client.delete(resource, seen, call);
    if (outcome.ok || !mayHaveLanded) return { outcome, isFinal: false };
    if (outcome.because === 'NotFound') return { outcome: GONE, isFinal: true };
    if (outcome.because !== 'Conflict') return { outcome, isFinal: false };
    const found = await client.get(resource, seen, { ...call, form: 'metadata' });
    if (!found.ok)
      return found.because === 'NotFound' ? { outcome: GONE, isFinal: true } : { outcome: found, isFinal: false };
    const { uid, deletionTimestamp } = found.object.metadata;
    if (uid !== seen.uid) return { outcome: GONE, isFinal: true };
    return { outcome: deletionTimestamp === undefined ? outcome : found, isFinal: true };
  };
  return untilDefinite(client.timing, options, { attempt, canLandLate: false });
}
