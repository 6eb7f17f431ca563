/** A kind as the API server serves it; `group` is empty for core kinds. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
}

export interface ObjectName {
  /** Absent for cluster scoped objects, and for lists over all namespaces. */
  readonly namespace?: string;
  readonly name: string;
}

export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}

export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`;
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${resource.plural}`;
}

export function objectPath(resource: Resource, at: ObjectName, subresource?: string): string {
  const path = `${collectionPath(resource, at.namespace)}/${encodeURIComponent(at.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}
