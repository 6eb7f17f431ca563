import type { CallOptions } from '#pkg/kube/client/caller.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject, NewObject } from '#pkg/kube/objects/kube-object.ts';
import type { Failure } from '#pkg/kube/objects/outcome.ts';
import type { Resource } from '#pkg/kube/objects/resource.ts';
import { type Definite, type DefiniteOptions, untilDefinite, type WriteVerdict } from './until-definite.ts';

export interface CreateDefiniteOptions extends DefiniteOptions {
  /** Whether an object of that name is the one this call wrote. */
  readonly isOurs: (found: KubeObject) => boolean;
}

/**
 * Creates one object, once. A try without an answer is repeated on the same name; a name that is taken after one is
 * looked at, to tell our own earlier try from a stranger. A read that says 404 settles nothing: the try may be on its way.
 */
export function createDefinite(
  client: KubeClient,
  resource: Resource,
  object: NewObject,
  { isOurs, ...options }: CreateDefiniteOptions,
): Promise<Definite<KubeObject>> {
  const attempt = async (call: CallOptions, mayHaveLanded: boolean): Promise<WriteVerdict<KubeObject>> => {
    const outcome = await client.create(resource, object, call);
    if (outcome.ok || outcome.because !== 'AlreadyExists' || !mayHaveLanded) return { outcome, isFinal: false };
    const found = await client.get(resource, object.metadata, call);
    if (found.ok) return isOurs(found.object) ? { outcome: found, isFinal: true } : { outcome, isFinal: true };
    return { outcome: again(outcome, found), isFinal: false };
  };
  return untilDefinite(client.timing, options, { attempt, canLandLate: true });
}

/** The name was taken a moment ago, and by whom cannot be told. */
function again(taken: Failure, found: Failure): Failure {
  return found.because === 'NotFound' ? taken : found;
}
