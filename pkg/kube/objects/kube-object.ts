/** The part of the metadata that this project reads, with checked types. */
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

/** An object of the API server. Only its metadata is checked here; the rest is checked by the decoder of its kind. */
export interface KubeObject {
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** An object to write. The API server fills in the rest. */
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

/** A changed object with the resourceVersion that was read. Without one the write would not be conditional. */
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

/** managedFields are about half of a small object, and are not read here. A write without them leaves them unchanged. */
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

export interface ListQuery {
  /** Absent for a list over all namespaces, and for cluster scoped kinds. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

/** It has no resourceVersion: only a list without one is consistent. A list with 0 may miss finished writes. */
export function queryString({ labelSelector, fieldSelector }: ListQuery, more: Parameters = {}): string {
  const given = Object.entries({ labelSelector, fieldSelector, ...more })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return given.length === 0 ? '' : `?${given.join('&')}`;
}

/** Whether `a` was written before `b`. A version that is not a number cannot be compared and counts as later. */
export function isOlder(a: string, b: string): boolean {
  return a !== b && isNumber(a) && isNumber(b) && BigInt(a) < BigInt(b);
}

/** No cluster writes that often between two looks. Kubernetes recommends to bump the revision of a restored etcd by a billion. */
const BUMP = 100_000_000n;

/**
 * Whether a store that says `now` was restored from a backup since it said `before`: its revision went back, or was bumped so
 * that it does not.
 */
export function isRestoredSince(now: string, before: string): boolean {
  if (!isNumber(now) || !isNumber(before) || BigInt(before) === 0n) return false;
  return isOlder(now, before) || BigInt(now) - BigInt(before) > BUMP;
}

/** A number to compare versions by. One that is not a number counts as the oldest: it must not be the reason to free a record. */
export function toRevision(resourceVersion: string): bigint {
  return isNumber(resourceVersion) ? BigInt(resourceVersion) : 0n;
}

function isNumber(text: string): boolean {
  return /^\d{1,40}$/.test(text);
}
