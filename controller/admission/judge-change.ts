import { isDeepStrictEqual } from 'node:util';
import { DOMAIN_ANNOTATION, decodeDomain } from '#pkg/crd/decode-domain.ts';
import type { Family } from '#pkg/ip/address.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import type { ReviewFields } from './review.ts';
import { type AdmissionVerdict, forbiddenField } from './verdict.ts';

export interface Families {
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
}

export function judgeFamily(family: Family, { enableIPv4, enableIPv6 }: Families): AdmissionVerdict | null {
  const isEnabled = family === 4 ? enableIPv4 : enableIPv6;
  return isEnabled ? null : forbiddenField('spec.ipVersion', `IPv${family} is disabled`);
}

/** A change of metadata alone (labels, finalizers, owners) is harmless, except that of the domain, which is metadata too. */
export function changesNothing(before: ReviewFields, after: ReviewFields): boolean {
  return isDeepStrictEqual(before['spec'], after['spec']) && domainOf(before) === domainOf(after);
}

/** The annotations with a new value: one that was wrong before is no reason to refuse the repair of another. */
export function changedAnnotations(
  before: ReviewFields,
  after: ReviewFields,
  names: readonly string[],
): Record<string, unknown> {
  const [old, next] = [annotationsOf(before), annotationsOf(after)];
  return Object.fromEntries(names.filter((name) => old[name] !== next[name]).map((name) => [name, next[name]]));
}

/** What never changes once the object exists. */
export function judgeFixed(before: ReviewFields, after: ReviewFields): AdmissionVerdict | null {
  const [old, next] = [specOf(before), specOf(after)];
  for (const field of ['ipVersion', 'subnet']) {
    // An absent ipVersion follows from the subnet: writing it down is no change.
    if (old[field] !== undefined && old[field] !== next[field]) {
      return forbiddenField(`spec.${field}`, `is not changeable; it is ${JSON.stringify(old[field]).slice(0, 64)}`);
    }
  }
  if (domainOf(before) === domainOf(after) || !isDomain(before)) return null;
  const field = `metadata.annotations["${DOMAIN_ANNOTATION}"]`;
  return forbiddenField(field, 'is not changeable: the addresses in use are of the old domain');
}

export function isBeingDeleted(object: ReviewFields): boolean {
  return typeof metadataOf(object)['deletionTimestamp'] === 'string';
}

export function metadataOf(object: ReviewFields): ReviewFields {
  return isMap(object['metadata']) ? object['metadata'] : {};
}

export function specOf(object: ReviewFields): ReviewFields {
  return isMap(object['spec']) ? object['spec'] : {};
}

function annotationsOf(object: ReviewFields): ReviewFields {
  const { annotations } = metadataOf(object);
  return isMap(annotations) ? annotations : {};
}

function domainOf(object: ReviewFields): string {
  const domain = annotationsOf(object)[DOMAIN_ANNOTATION];
  return typeof domain === 'string' ? domain : 'default';
}

/** What is no domain has given out no addresses, and may be repaired. */
function isDomain(object: ReviewFields): boolean {
  try {
    decodeDomain(annotationsOf(object));
    return true;
  } catch {
    return false;
  }
}
