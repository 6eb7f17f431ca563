import {
  apiVersionOf,
  collectionPath,
  isMap,
  type KubeObject,
  type ListQuery,
  type NewObject,
  type ObjectName,
  objectPath,
  type Parameters,
  queryString,
  type Resource,
  readObject,
  type SeenObject,
} from '#pkg/kube/objects/kube-object.ts';
import { type ObjectList, type Page, readObjectPage } from '#pkg/kube/objects/object-list.ts';
import { ColumnCutter, type ObjectTable, readTablePage, type TablePage } from '#pkg/kube/objects/object-table.ts';
import { type Failure, failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import { readServedKinds, type ServedKind } from '#pkg/kube/objects/served-kinds.ts';
import type { LoadAccess } from '#pkg/kube/transport/connection.ts';
import type { OpenStream } from '#pkg/kube/transport/exchange.ts';
import type { Timing } from '#pkg/kube/transport/timing.ts';
import { type ApiCall, Caller, type CallOptions, type ClientOptions } from './caller.ts';
import { type PageLimits, type PageSink, type Paging, readPages } from './paged-list.ts';
import type {
  GetOptions,
  ListOptions,
  ReadOptions,
  Seen,
  TableOptions,
  Trim,
  WriteOptions,
} from './request-options.ts';

const MAX_PAGE_BYTES = 16 << 20;
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
  readonly #maxPageBytes: number;
  readonly #maxListBytes: number;

  constructor(loadAccess: LoadAccess, options: ClientOptions) {
    this.#caller = new Caller(loadAccess, options);
    this.timing = this.#caller.timing;
    this.#maxPageBytes = options.maxPageBytes ?? MAX_PAGE_BYTES;
    this.#maxListBytes = options.maxListBytes ?? MAX_LIST_BYTES;
  }

  /** Never from a cache: the answer is not older than the call. */
  get(
    resource: Resource,
    at: ObjectName,
    { form, subresource, ...options }: GetOptions = {},
  ): Promise<Outcome<KubeObject>> {
    const accept = form === 'metadata' ? { accept: METADATA } : {};
    return this.#object({
      ...options,
      ...accept,
      ...about(resource, at),
      method: 'GET',
      path: objectPath(resource, at, subresource),
    });
  }

  /** Consistent: every write that was finished before the call is in it. */
  async list(resource: Resource, query: ListQuery = {}, options: ListOptions = {}): Promise<Outcome<ObjectList>> {
    let items: KubeObject[] = [];
    const sink: PageSink<Page<KubeObject>> = {
      begin: () => {
        items = [];
      },
      take: (page) => {
        for (const item of page.items) items.push(item);
      },
    };
    const listed = await this.#readPages(resource, query, options, this.#maxListBytes, sink);
    return listed.ok ? { ok: true, object: { items, resourceVersion: listed.object } } : listed;
  }

  /** The same page by page, for lists that are too large to be kept; of any size. Returns the resourceVersion of the list. */
  listPages(
    resource: Resource,
    query: ListQuery,
    options: ListOptions,
    sink: PageSink<Page<KubeObject>>,
  ): Promise<Outcome<string>> {
    return this.#readPages(resource, query, options, Number.POSITIVE_INFINITY, sink);
  }

  /** The revision of the store now, by a consistent list of one object. If it is older than before, the store was restored. */
  async revision(resource: Resource, query: ListQuery = {}, options: CallOptions = {}): Promise<Outcome<string>> {
    const path = collectionPath(resource, query.namespace) + queryString(query, { limit: 1 });
    const call = { ...options, accept: METADATA_LIST, plural: resource.plural, method: 'GET', path } as const;
    const page = await this.#caller.call(call);
    const read = page.ok ? readObjectPage(page.object) : page;
    return read.ok ? { ok: true, object: read.object.resourceVersion } : read;
  }

  /** Such as `v1.33.1`, with what a distribution appends. */
  async version(options: CallOptions = {}): Promise<Outcome<string>> {
    const answer = await this.#caller.call({ ...options, plural: 'version', method: 'GET', path: '/version' });
    if (!answer.ok) return answer;
    const version = isMap(answer.object) ? answer.object['gitVersion'] : undefined;
    return typeof version === 'string'
      ? { ok: true, object: version }
      : failure('BadAnswer', 'no gitVersion in /version');
  }

  /** Consistent too, and by default in one request. */
  async listTable(
    resource: Resource,
    query: ListQuery = {},
    options: TableOptions = {},
  ): Promise<Outcome<ObjectTable>> {
    const { columns, pageSize = 0, timeoutMs, pageTimeoutMs, ...rest } = options;
    const cutter = columns === undefined ? null : new ColumnCutter(columns);
    const maxBytes = this.#maxListBytes;
    const limits = { pageSize, timeoutMs, pageTimeoutMs, maxPageBytes: maxBytes, maxBytes };
    const getPage = async (paging: Paging, bounds: PageLimits): Promise<Outcome<TablePage>> => {
      const path = collectionPath(resource, query.namespace) + queryString(query, { ...paging, includeObject: 'None' });
      const form = { accept: TABLE, compress: true };
      const call = { ...rest, ...bounds, ...form, plural: resource.plural, method: 'GET', path } as const;
      const page = await this.#caller.call(call);
      const read = page.ok ? readTablePage(page.object) : page;
      return read.ok && cutter !== null ? { ok: true, object: cutter.cut(read.object) } : read;
    };
    let pages: TablePage[] = [];
    const sink: PageSink<TablePage> = {
      begin: () => {
        pages = [];
      },
      take: (page) => void pages.push(page),
    };
    const listed = await readPages(this.timing, limits, getPage, sink);
    if (!listed.ok) return listed;
    const rows = pages.flatMap((page) => page.items);
    return { ok: true, object: { columns: pages[0]?.columns ?? [], rows, resourceVersion: listed.object } };
  }

  /** What a subresource says in plain text, such as the log of a pod. */
  async text(
    resource: Resource,
    at: ObjectName,
    subresource: string,
    parameters: Parameters = {},
  ): Promise<Outcome<string>> {
    const path = objectPath(resource, at, subresource) + queryString({}, parameters);
    const call = { ...about(resource, at), method: 'GET', path, accept: '*/*', isText: true } as const;
    const outcome = await this.#caller.call(call);
    return outcome.ok ? { ok: true, object: String(outcome.object) } : outcome;
  }

  create(resource: Resource, object: NewObject, options: CallOptions = {}): Promise<Outcome<KubeObject>> {
    const path = collectionPath(resource, object.metadata.namespace);
    const body = withKind(resource, object);
    return this.#object({ ...options, ...about(resource, object.metadata), method: 'POST', path, body });
  }

  /** The kinds of one group and version. NotServed: there is no such group or version. */
  async kindsOf(
    { group, version }: Pick<Resource, 'group' | 'version'>,
    options: CallOptions = {},
  ): Promise<Outcome<ServedKind[]>> {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const outcome = await this.#caller.call({ ...options, plural: '', method: 'GET', path });
    if (!outcome.ok) return outcome;
    const kinds = readServedKinds(outcome.object, { group, version });
    return kinds === null ? failure('BadAnswer', 'the answer is no list of kinds') : { ok: true, object: kinds };
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

  #readPages(
    resource: Resource,
    query: ListQuery,
    { form, trim, pageSize, timeoutMs, pageTimeoutMs, ...rest }: ListOptions,
    maxBytes: number,
    sink: PageSink<Page<KubeObject>>,
  ): Promise<Outcome<string>> {
    const limits = { pageSize, timeoutMs, pageTimeoutMs, maxPageBytes: this.#maxPageBytes, maxBytes };
    const accept = form === 'metadata' ? { accept: METADATA_LIST } : {};
    const getPage = async (paging: Paging, bounds: PageLimits): Promise<Outcome<Page<KubeObject>>> => {
      const path = collectionPath(resource, query.namespace) + queryString(query, paging);
      const about = { ...accept, plural: resource.plural, method: 'GET', path } as const;
      const page = await this.#caller.call({ ...rest, ...bounds, ...about });
      const read = page.ok ? readObjectPage(page.object) : page;
      return read.ok && trim !== undefined ? trimPage(read.object, trim) : read;
    };
    return readPages(this.timing, limits, getPage, sink);
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
