import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import type { FailureKind } from '#pkg/kube/objects/outcome.ts';

type Reader = Pick<KubeClient, 'revision' | 'kindsOf'>;

/** Null if every kind is served and may be read. At most two requests while the first of them is not here. */
export async function whyNotServed(client: Reader, kinds: readonly Resource[]): Promise<FailureKind | null> {
  for (const kind of kinds) {
    const found = await client.revision(kind);
    if (found.ok) continue;
    // The API server answers 403 for a kind that it does not serve, too, because it asks for the rights first.
    return found.because === 'Forbidden' && !(await isServed(client, kind)) ? 'NotServed' : found.because;
  }
  return null;
}

export async function isServed(client: Pick<Reader, 'kindsOf'>, wanted: Resource): Promise<boolean> {
  const kinds = await client.kindsOf(wanted);
  return kinds.ok && kinds.object.some(({ resource }) => resource.plural === wanted.plural);
}
