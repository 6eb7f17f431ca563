import { isMap } from '#pkg/kube/objects/kube-object.ts';

/** Variables of ours: they are in the manifests, and none of them is a secret. */
const OWN_VARIABLE = /^(IPLEDGER|SPIDERPOOL)_/;
const LEFT_OUT = '(left out)';
/** It repeats the object as it was applied, with all of its values. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The object as it may leave the cluster: without managedFields and the copy that kubectl keeps, and without the values of
 * environment variables that are not ours.
 */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (!isMap(value)) return value;
  const kept = Object.entries(value).filter(([key]) => key !== 'managedFields' && key !== LAST_APPLIED);
  const isForeignVariable =
    typeof value['name'] === 'string' && typeof value['value'] === 'string' && !OWN_VARIABLE.test(value['name']);
  return Object.fromEntries(
    kept.map(([key, item]) => [key, isForeignVariable && key === 'value' ? LEFT_OUT : redact(item)]),
  );
}
