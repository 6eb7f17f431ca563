import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import { fnvHash } from '#pkg/record/record-metadata.ts';

const LONGEST_NAME = 253;
const UID_CHARACTERS = 5;
const HASH_CHARACTERS = 16;

/**
 * The names that the pool of an application may have, in this order: Spiderpool's, then the same with a hash of the whole key, for
 * where a pool of another subnet or application has the first. Two leaders find the same names, so they make one pool.
 */
export function autoPoolNames(key: AutoPoolKey): readonly [string, string] {
  const suffix = fnvHash(JSON.stringify([key.subnet, ...identityOf(key)])).slice(0, HASH_CHARACTERS);
  return [nameWith(key, ''), nameWith(key, `-${suffix}`)];
}

/** The first name that no other pool has; null if both are taken. */
export function freePoolName(key: AutoPoolKey, isTaken: (name: string) => boolean): string | null {
  return autoPoolNames(key).find((name) => !isTaken(name)) ?? null;
}

function nameWith(key: AutoPoolKey, suffix: string): string {
  const uidPart = toNamePart((key.application.uid.split('-').at(-1) ?? '').slice(0, UID_CHARACTERS));
  const [start, end] = [`auto${key.family}-`, `-${toNamePart(key.interface)}-${uidPart}${suffix}`];
  const application = toNamePart(key.application.name.slice(0, LONGEST_NAME - start.length - end.length));
  return start + application + end;
}

function identityOf({ application, interface: nic, family }: AutoPoolKey): readonly (string | number)[] {
  const { apiVersion, kind, namespace, name, uid } = application;
  return [apiVersion, kind, namespace, name, uid, nic, family];
}

/** What may stand between two hyphens of an object's name; a cut may leave a dot at the end. */
function toNamePart(text: string): string {
  const legal = text.toLowerCase().replace(/[^-.a-z0-9]/g, '-');
  return legal.replace(/\.+(?=[-.])|(?<=[-.])\.+/g, '').replace(/^[-.]+|[-.]+$/g, '') || 'x';
}
