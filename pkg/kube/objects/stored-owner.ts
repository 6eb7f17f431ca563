import { isMap } from './kube-object.ts';

/** An owner reference as it is stored. */
export type StoredOwner = Readonly<Record<string, unknown>>;

const MOST_OWNERS = 100;

export function readOwners(value: unknown): readonly StoredOwner[] {
  return Array.isArray(value) ? value.slice(0, MOST_OWNERS).filter(isMap) : [];
}
