import { isMap, type KubeObject, readObject } from './kube-object.ts';
import { failure, type Outcome } from './outcome.ts';

export interface ObjectList {
  readonly items: readonly KubeObject[];
  /** A watch that follows the list starts here. */
  readonly resourceVersion: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continue: string;
}

export function readObjectPage(value: unknown): Outcome<Page<KubeObject>> {
  const head = readPageHead(value);
  const listed = isMap(value) ? readRows(value['items']) : null;
  if (head === null || listed === null) return failure('BadAnswer', 'the answer is not a list');
  const items = listed.map(readObject);
  const isWhole = (all: (KubeObject | null)[]): all is KubeObject[] => !all.includes(null);
  return isWhole(items)
    ? { ok: true, object: { items, ...head } }
    : failure('BadAnswer', 'an item of the list has no valid metadata');
}

export function readPageHead(value: unknown): Omit<Page<never>, 'items'> | null {
  const metadata = isMap(value) ? value['metadata'] : undefined;
  if (!isMap(metadata)) return null;
  const { resourceVersion, continue: next } = metadata;
  if (typeof resourceVersion !== 'string') return null;
  return { resourceVersion, continue: typeof next === 'string' ? next : '' };
}

/** The API server writes some empty lists as null. An answer without the field is not a list. */
export function readRows(value: unknown): readonly unknown[] | null {
  if (value === null) return [];
  return Array.isArray(value) ? value : null;
}
