import {
  apiVersionOf,
  collectionPath,
  isMap,
  type KubeObject,
  type ListQuery,
  type NewObject,
  type ObjectName,
  objectPath,
  queryString,
  type Resource,
  readObject,
  type SeenObject,
} from '#pkg/kube/objects/kube-object.ts';
import { type ObjectList, type Page, readObjectPage } from '#pkg/kube/objects/object-list.ts';
import { ColumnCutter, type ObjectTable, readTablePage } from '#pkg/kube/objects/object-table.ts';
import { type Failure, failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import type { LoadAccess } from '#pkg/kube/transport/connection.ts';
import type { OpenStream } from '#pkg/kube/transport/exchange.ts';
import type { Timing } from '#pkg/kube/transport/timing.ts';
import { type ApiCall, Caller, type CallOptions, type ClientOptions } from './caller.ts';
import { readAllPages } from './paged-list.ts';

/** `metadata` leaves spec and status on the server. */
export type Form = 'full' | 'metadata';

/** Drops parts of an object. Name, namespace, uid and resourceVersion must stay. */
export type Trim = (object: KubeObject) => KubeObject;

export interface ReadOptions extends CallOptions {
  readonly form?: Form;
}

/** `timeoutMs` is for the whole list with all its pages. Without it each page has 10 s and the list two minutes. */
export interface ListOptions extends ReadOptions {
  /** Objects per request; 0 for all in one. */
  readonly pageSize?: number;
  readonly pageTimeoutMs?: number;
  /** What is kept of each object while the other pages are read; by default all of it. */
  readonly trim?: Trim;
}

export interface TableOptions extends CallOptions {
  /** Rows per request; 0 for all in one. */
  readonly pageSize?: number;
  readonly pageTimeoutMs?: number;
  /** The columns that are kept while the other pages are read; by default all of them. */
  readonly columns?: readonly string[];
}

export interface WriteOptions extends CallOptions {
  readonly subresource?: 'status';
}

/** The preconditions of a delete. Without them another object of the same name could be deleted. */
export interface Seen extends ObjectName {
  readonly uid: string;
  readonly resourceVersion?: string;
}

const PAGE_SIZE = 500;
const MAX_LIST_BYTES = 512 << 20;
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/**
 * Typed requests to the API server. They never throw. They repeat only what the server certainly did not do: a refused stream,
 * a 401 after the credentials were read again, and after the pause that the server asked for a 429, or a read that got a 503.
 */
export class KubeClient implements Disposable {
  readonly timing: Timing;
  readonly #caller: Caller;
  readonly #maxListBytes: number;

  constructor(loadAccess: LoadAccess, options: ClientOptions) {
    this.#caller = new Caller(loadAccess, options);
    this.timing = this.#caller.timing;
    this.#maxListBytes = options.maxListBytes ?? MAX_LIST_BYTES;
  }

  /** Never from a cache: the answer is not older than the call. */
  get(resource: Resource, at: ObjectName, { form, ...options }: ReadOptions = {}): Promise<Outcome<KubeObject>> {
    const accept = form === 'metadata' ? { accept: METADATA } : {};
    return this.#object({
      ...options,
      ...accept,
      ...about(resource, at),
      method: 'GET',
      path: objectPath(resource, at),
    });
  }

  /** Consistent: every write that was finished before the call is in it. */
  async list(resource: Resource, query: ListQuery = {}, options: ListOptions = {}): Promise<Outcome<ObjectList>> {
    const { form, trim, pageSize = PAGE_SIZE, timeoutMs, pageTimeoutMs, ...rest } = options;
    const limits = { pageSize, timeoutMs, pageTimeoutMs, maxBytes: this.#maxListBytes };
    const accept = form === 'metadata' ? { accept: METADATA_LIST } : {};
    const pages = await readAllPages(this.timing, limits, async (paging, bounds) => {
      const path = collectionPath(resource, query.namespace) + queryString(query, paging);
      const page = await this.#caller.call({
        ...rest,
        ...bounds,
        ...accept,
        plural: resource.plural,
        method: 'GET',
        path,
      });
      const read = page.ok ? readObjectPage(page.object) : page;
      return read.ok && trim !== undefined ? trimPage(read.object, trim) : read;
    });
    if (!pages.ok) return pages;
    const items = pages.object.flatMap((page) => page.items);
    return { ok: true, object: { items, resourceVersion: pages.object[0]?.resourceVersion ?? '' } };
  }

  /** The revision of the store now, by a consistent list of one object. If it is older than before, the store was restored. */
  async revision(resource: Resource, query: ListQuery = {}, options: CallOptions = {}): Promise<Outcome<string>> {
    const path = collectionPath(resource, query.namespace) + queryString(query, { limit: 1 });
    const call = { ...options, accept: METADATA_LIST, plural: resource.plural, method: 'GET', path } as const;
    const page = await this.#caller.call(call);
    const read = page.ok ? readObjectPage(page.object) : page;
    return read.ok ? { ok: true, object: read.object.resourceVersion } : read;
  }

  /** Consistent too, and by default in one request. */
  async listTable(
    resource: Resource,
    query: ListQuery = {},
    options: TableOptions = {},
  ): Promise<Outcome<ObjectTable>> {
    const { columns, pageSize = 0, timeoutMs, pageTimeoutMs, ...rest } = options;
    const cutter = columns === undefined ? null : new ColumnCutter(columns);
    const limits = { pageSize, timeoutMs, pageTimeoutMs, maxBytes: this.#maxListBytes };
    const pages = await readAllPages(this.timing, limits, async (paging, bounds) => {
      const path = collectionPath(resource, query.namespace) + queryString(query, { ...paging, includeObject: 'None' });
      const form = { accept: TABLE, compress: true };
      const call = { ...rest, ...bounds, ...form, plural: resource.plural, method: 'GET', path } as const;
      const page = await this.#caller.call(call);
      const read = page.ok ? readTablePage(page.object) : page;
      return read.ok && cutter !== null ? { ok: true, object: cutter.cut(read.object) } : read;
    });
    if (!pages.ok) return pages;
    const [first] = pages.object;
    const rows = pages.object.flatMap((page) => page.items);
    return { ok: true, object: { columns: first?.columns ?? [], rows, resourceVersion: first?.resourceVersion ?? '' } };
  }

  create(resource: Resource, object: NewObject, options: CallOptions = {}): Promise<Outcome<KubeObject>> {
    const path = collectionPath(resource, object.metadata.namespace);
    const body = withKind(resource, object);
    return this.#object({ ...options, ...about(resource, object.metadata), method: 'POST', path, body });
  }

  /** A request that stores no object, such as a SubjectAccessReview. */
  async review(
    resource: Resource,
    question: Readonly<Record<string, unknown>>,
    options: CallOptions = {},
  ): Promise<Outcome<Readonly<Record<string, unknown>>>> {
    const body = { ...question, apiVersion: apiVersionOf(resource), kind: resource.kind };
    const path = collectionPath(resource);
    const outcome = await this.#caller.call({ ...options, plural: resource.plural, method: 'POST', path, body });
    if (!outcome.ok) return outcome;
    const { object } = outcome;
    return isMap(object) ? { ok: true, object } : failure('BadAnswer', `the answer is no ${resource.kind}`);
  }

  /** Writes only if the object still has the resourceVersion in `object`. */
  update(resource: Resource, object: SeenObject, options: WriteOptions = {}): Promise<Outcome<KubeObject>> {
    const { subresource, ...rest } = options;
    const path = objectPath(resource, object.metadata, subresource);
    const body = withKind(resource, object);
    return this.#object({ ...rest, ...about(resource, object.metadata), method: 'PUT', path, body });
  }

  /** A JSON merge patch. It is conditional if it has `metadata.resourceVersion`. */
  patch(
    resource: Resource,
    at: ObjectName,
    patch: Readonly<Record<string, unknown>>,
    { subresource, ...options }: WriteOptions = {},
  ): Promise<Outcome<KubeObject>> {
    const path = objectPath(resource, at, subresource);
    const contentType = 'application/merge-patch+json';
    return this.#object({ ...options, ...about(resource, at), method: 'PATCH', path, contentType, body: patch });
  }

  /** Returns null if the object is gone. An object with finalizers is only marked for deletion, and is returned as it is now. */
  async delete(resource: Resource, seen: Seen, options: CallOptions = {}): Promise<Outcome<KubeObject | null>> {
    const { uid, resourceVersion } = seen;
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid, resourceVersion } };
    const path = objectPath(resource, seen);
    const outcome = await this.#caller.call({ ...options, ...about(resource, seen), method: 'DELETE', path, body });
    if (!outcome.ok) return outcome;
    const left = readObject(outcome.object);
    return { ok: true, object: (left?.metadata.finalizers ?? []).length > 0 ? left : null };
  }

  /** One watch connection, from its 200 on. `timeoutSeconds`: when the server ends it. */
  openWatch(
    resource: Resource,
    query: ListQuery,
    { resourceVersion, timeoutSeconds }: { readonly resourceVersion: string; readonly timeoutSeconds: number },
    { form, ...options }: ReadOptions = {},
  ): Promise<OpenStream | Failure> {
    const parameters = { watch: true, allowWatchBookmarks: true, resourceVersion, timeoutSeconds };
    const path = collectionPath(resource, query.namespace) + queryString(query, parameters);
    const accept = form === 'metadata' ? { accept: METADATA } : {};
    return this.#caller.open({ ...options, ...accept, plural: resource.plural, method: 'GET', path });
  }

  /** Requests under way end as Unknown. */
  [Symbol.dispose](): void {
    this.#caller.close();
  }

  async #object(call: ApiCall): Promise<Outcome<KubeObject>> {
    const outcome = await this.#caller.call(call);
    if (!outcome.ok) return outcome;
    const object = readObject(outcome.object);
    return object === null || object.metadata.name !== call.name
      ? failure('BadAnswer', `the answer is not ${call.plural} ${call.name}`)
      : { ok: true, object };
  }
}

function about({ plural }: Resource, { name }: { readonly name: string }): Pick<ApiCall, 'plural' | 'name'> {
  return { plural, name };
}

function withKind(resource: Resource, object: NewObject): Readonly<Record<string, unknown>> {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}

function trimPage(page: Page<KubeObject>, trim: Trim): Outcome<Page<KubeObject>> {
  return { ok: true, object: { ...page, items: page.items.map(trim) } };
}
