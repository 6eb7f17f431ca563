import { asFilledString, asListOf, asObject, type Fields } from '#pkg/decode/untrusted.ts';

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

const LONGEST_TEXT = 253;

/** The owner that is marked as the controller; null if there is none. */
export function decodeController(ownerReferences: unknown): OwnerReference | null {
  const owners = asListOf(
    ownerReferences,
    'metadata.ownerReferences',
    (item, path) => [asObject(item, path), path] as const,
  );
  const controller = owners.find(([owner]) => owner['controller'] === true);
  return controller === undefined ? null : readOwner(...controller);
}

function readOwner(owner: Fields, path: string): OwnerReference {
  const textOf = (field: string) => asFilledString(owner[field], `${path}.${field}`, LONGEST_TEXT);
  return { apiVersion: textOf('apiVersion'), kind: textOf('kind'), name: textOf('name'), uid: textOf('uid') };
}
