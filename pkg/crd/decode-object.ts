import {
  asDnsSubdomain,
  asObject,
  asOneOf,
  asString,
  type Fields,
  ifPresent,
  refuseUnknownFields,
} from '#pkg/decode/untrusted.ts';

const SPIDERPOOL_API_VERSION = 'spiderpool.spidernet.io/v2beta1';

interface Metadata {
  readonly name: string;
  /** Empty for an object from a file of a standalone host. */
  readonly uid: string;
  readonly labels: Fields;
  readonly annotations: Fields;
  readonly isTerminating: boolean;
}

const TOP_FIELDS = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];

/** The envelope of every Spiderpool object. `status` and the rest of the metadata are ignored. */
export function decodeObject(value: unknown, kind: string): { metadata: Metadata; spec: Fields } {
  const object = asObject(value, kind);
  asOneOf(object['apiVersion'], 'apiVersion', [SPIDERPOOL_API_VERSION]);
  asOneOf(object['kind'], 'kind', [kind]);
  refuseUnknownFields(object, kind, TOP_FIELDS);
  return { metadata: decodeMetadata(object['metadata']), spec: asObject(object['spec'], 'spec') };
}

function decodeMetadata(value: unknown): Metadata {
  const metadata = asObject(value, 'metadata');
  return {
    name: asDnsSubdomain(metadata['name'], 'metadata.name'),
    uid: ifPresent(metadata['uid'], (uid) => asString(uid, 'metadata.uid', 128)) ?? '',
    labels: asObject(metadata['labels'] ?? {}, 'metadata.labels'),
    annotations: asObject(metadata['annotations'] ?? {}, 'metadata.annotations'),
    isTerminating:
      ifPresent(metadata['deletionTimestamp'], (at) => asString(at, 'metadata.deletionTimestamp', 64)) !== undefined,
  };
}
