import { isMap, type Resource } from './kube-object.ts';

/** A kind as discovery names it. */
export interface ServedKind {
  readonly resource: Resource;
  readonly isNamespaced: boolean;
  /** It has a subresource `scale`, which says how many pods are wanted. */
  readonly hasScale: boolean;
}

/** Null: it is no APIResourceList. */
export function readServedKinds(
  value: unknown,
  { group, version }: Pick<Resource, 'group' | 'version'>,
): ServedKind[] | null {
  if (!isMap(value) || !Array.isArray(value['resources'])) return null;
  const listed = value['resources'].filter(isMap);
  const names = new Set(listed.map(({ name }) => name));
  return listed.flatMap(({ name, kind, namespaced }): ServedKind[] => {
    if (typeof name !== 'string' || typeof kind !== 'string' || name.includes('/')) return [];
    const resource = { group, version, plural: name, kind };
    return [{ resource, isNamespaced: namespaced === true, hasScale: names.has(`${name}/scale`) }];
  });
}
