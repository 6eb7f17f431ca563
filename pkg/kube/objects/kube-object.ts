/** The part of the metadata that this project reads, as it came from the API server and with its types checked. */
export interface ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly namespace?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: unknown;
}

/** An object of the API server. Everything but its metadata is for the decoder of its kind to judge. */
export interface KubeObject {
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** What a caller hands in to be written; the API server fills in the rest. */
export interface NewObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: unknown;
  };
  readonly [field: string]: unknown;
}

/** A changed object with the resourceVersion it was read at: without one the write would not be conditional. */
export interface SeenObject extends NewObject {
  readonly metadata: NewObject['metadata'] & { readonly uid?: string; readonly resourceVersion: string };
}

const TEXTS = ['namespace', 'creationTimestamp', 'deletionTimestamp'];
const MAPS = ['labels', 'annotations'];

export function readObject(value: unknown): KubeObject | null {
  if (!isMap(value)) return null;
  const { metadata } = value;
  return isMap(metadata) && isObjectMeta(metadata) ? (value as KubeObject) : null;
}

function isObjectMeta(metadata: Readonly<Record<string, unknown>>): boolean {
  const { name, uid, resourceVersion, generation } = metadata;
  return (
    isFilledText(name) &&
    isFilledText(uid) &&
    isFilledText(resourceVersion) &&
    (generation === undefined || typeof generation === 'number') &&
    TEXTS.every((field) => metadata[field] === undefined || typeof metadata[field] === 'string') &&
    MAPS.every((field) => metadata[field] === undefined || isTextMap(metadata[field])) &&
    (metadata['finalizers'] === undefined || isTextList(metadata['finalizers']))
  );
}

/** About half of a small object's bytes, which nothing here reads. A write without managedFields leaves them unchanged. */
export function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata as ObjectMeta & { managedFields?: unknown };
  return { ...object, metadata };
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFilledText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isTextMap(value: unknown): boolean {
  return isMap(value) && Object.values(value).every((text) => typeof text === 'string');
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
