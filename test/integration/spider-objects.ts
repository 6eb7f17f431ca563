import { vi } from 'vitest';
import type { KubeClient } from '#pkg/kube/client/client.ts';
import type { KubeObject, NewObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { sure } from '#test/support/sure.ts';

export { sure };

const PATIENCE = { timeout: 60_000, interval: 100 };

/** Reads an object until the assertions hold; null if it is gone. */
export async function eventually(
  client: KubeClient,
  resource: Resource,
  at: { readonly name: string; readonly namespace?: string },
  assert: (object: KubeObject | null) => void,
): Promise<void> {
  await vi.waitFor(async () => {
    const found = await client.get(resource, at);
    if (!found.ok && found.because !== 'NotFound') throw new Error(`${found.because}: ${found.message}`);
    assert(found.ok ? found.object : null);
  }, PATIENCE);
}

/** Deletes it without preconditions. */
export async function remove(admin: KubeClient, resource: Resource, { metadata }: KubeObject): Promise<void> {
  const { name, namespace, uid } = metadata;
  await sure(admin.delete(resource, { name, uid, ...(namespace === undefined ? {} : { namespace }) }));
}

export function poolOf(name: string, spec: Readonly<Record<string, unknown>>, more: object = {}): NewObject {
  return { metadata: { name, ...more }, spec };
}

/** The conditions of a status as `Type=Status/Reason`. */
export function conditionsOf(object: KubeObject | null): string[] {
  const { conditions = [] } = (object?.['status'] ?? {}) as { conditions?: Record<string, string>[] };
  return conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`);
}

/** Deletes all objects of a cluster scoped kind, whatever finalizers they have. */
export async function removeAll(admin: KubeClient, resource: Resource): Promise<void> {
  const { items } = await sure(admin.list(resource));
  for (const { metadata } of items) {
    const at = { name: metadata.name, ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }) };
    await admin.patch(resource, at, { metadata: { finalizers: null } });
    await admin.delete(resource, { ...at, uid: metadata.uid });
  }
}
