import type { FreshObjects } from '#controller/give/fresh-objects.ts';
import { FailedRequest } from '#controller/reconcile/reconciler.ts';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { ObjectName, Resource } from '#pkg/kube/objects/kube-object.ts';
import { keyOf } from '#pkg/kube/objects/object-key.ts';

/** Reads an object past the watch, which may be late. */
export async function readAgain(
  kind: Resource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  into: FreshObjects,
  client: KubeClient,
): Promise<void> {
  const at: ObjectName = { namespace, name };
  const found = await client.get(kind, at);
  if (found.ok) into.wrote(found.object);
  else if (found.because === 'NotFound') into.deleted({ namespace, name, uid: into.get(at)?.metadata.uid ?? '' });
  else throw new FailedRequest(`${kind.kind} ${keyOf(at)}`, found);
}
