import type { ObjectName } from './kube-object.ts';

/** One text for an object of a kind, as the key of a map. */
export function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace ?? ''}/${name}`;
}

/** Neither part contains a slash. */
export function nameOfKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
