import type { LoadAccess } from './access.ts';
import type { Lost, OpenStream } from './exchange.ts';
import { interpret } from './interpret.ts';
import { type KubeObject, type NewObject, readObject, type SeenObject } from './kube-object.ts';
import { type ListQuery, queryString } from './list-query.ts';
import { type ObjectList, readObjectPage } from './object-list.ts';
import { type ObjectTable, readTablePage } from './object-table.ts';
import { type Failure, failure, type Outcome } from './outcome.ts';
import { readAllPages } from './paged-list.ts';
import { apiVersionOf, collectionPath, type ObjectName, objectPath, type Resource } from './resource.ts';
import type { Target } from './status.ts';
import { SYSTEM_TIMING, type Timing } from './timing.ts';
import { type RawRequest, TRANSPORT_LIMITS, Transport, type TransportLimits } from './transport.ts';

export interface CallOptions {
  /** Until the answer is here, with all waiting; 10 s unless told. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** `metadata` leaves spec and status on the server. */
export type Form = 'full' | 'metadata';

export interface ListOptions extends CallOptions {
  readonly form?: Form;
  /** Objects per request; 500 unless told, 0 for all in one. */
  readonly pageSize?: number;
}

/** What a delete must still find; without it a stranger's object of the same name could be hit. */
export interface Seen extends ObjectName {
  readonly uid: string;
  readonly resourceVersion?: string;
}

export interface ClientOptions {
  readonly userAgent: string;
  readonly limits?: Partial<TransportLimits>;
  readonly timing?: Timing;
  readonly maxObjectBytes?: number;
  readonly maxListBytes?: number;
}

interface Call extends Target, CallOptions {
  readonly method: string;
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: unknown;
  readonly maxBytes?: number;
}

const TIMEOUT_MS = 10_000;
const PAGE_SIZE = 500;
const MAX_OBJECT_BYTES = 8 << 20;
const MAX_LIST_BYTES = 64 << 20;
const PAUSE_AT_429_MS = 1_000;

const JSON_TYPE = 'application/json';
const TABLE = `${JSON_TYPE};as=Table;g=meta.k8s.io;v=v1`;
const METADATA = `${JSON_TYPE};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`;
const METADATA_LIST = `${JSON_TYPE};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;

/**
 * Typed requests to the API server. Nothing is thrown and nothing repeated, but for what the server certainly did not
 * do: a refused stream, a 401 after the credentials were read again, a 429 after the pause it asked for.
 */
export class KubeClient implements Disposable {
  readonly timing: Timing;
  readonly #transport: Transport;
  readonly #options: ClientOptions;

  constructor(loadAccess: LoadAccess, options: ClientOptions) {
    this.timing = options.timing ?? SYSTEM_TIMING;
    this.#transport = new Transport(loadAccess, { ...TRANSPORT_LIMITS, ...options.limits });
    this.#options = options;
  }

  /** Never from a cache: what it says was so when it was asked. */
  async get(
    resource: Resource,
    at: ObjectName,
    options: CallOptions & { readonly form?: Form } = {},
  ): Promise<Outcome<KubeObject>> {
    const accept = options.form === 'metadata' ? METADATA : JSON_TYPE;
    return this.#callForObject(resource, at, { ...options, method: 'GET', path: objectPath(resource, at), accept });
  }

  /** Consistent: every write that was finished before the call is in it. */
  async list(resource: Resource, query: ListQuery = {}, options: ListOptions = {}): Promise<Outcome<ObjectList>> {
    const accept = options.form === 'metadata' ? METADATA_LIST : JSON_TYPE;
    const pages = await readAllPages(options.pageSize ?? PAGE_SIZE, async (limit, continueAt) => {
      const page = await this.#callForPage(resource, query, options, accept, { limit, continue: continueAt });
      return page.ok ? readObjectPage(page.object) : page;
    });
    if (!pages.ok) return pages;
    const items = pages.object.flatMap((page) => page.items);
    return { ok: true, object: { items, resourceVersion: pages.object[0]?.resourceVersion ?? '' } };
  }

  async listTable(resource: Resource, query: ListQuery = {}, options: ListOptions = {}): Promise<Outcome<ObjectTable>> {
    const pages = await readAllPages(options.pageSize ?? 0, async (limit, continueAt) => {
      const parameters = { limit, continue: continueAt, includeObject: 'None' };
      const page = await this.#callForPage(resource, query, options, TABLE, parameters);
      return page.ok ? readTablePage(page.object) : page;
    });
    if (!pages.ok) return pages;
    const [first] = pages.object;
    const rows = pages.object.flatMap((page) => page.items);
    return { ok: true, object: { columns: first?.columns ?? [], rows, resourceVersion: first?.resourceVersion ?? '' } };
  }

  async create(resource: Resource, object: NewObject, options: CallOptions = {}): Promise<Outcome<KubeObject>> {
    const { name, namespace } = object.metadata;
    return this.#callForObject(
      resource,
      { name },
      { ...options, method: 'POST', path: collectionPath(resource, namespace), body: withKind(resource, object) },
    );
  }

  /** Only if the object still has the resourceVersion in `object`. */
  async update(
    resource: Resource,
    object: SeenObject,
    options: CallOptions & { readonly subresource?: 'status' } = {},
  ): Promise<Outcome<KubeObject>> {
    const path = objectPath(resource, object.metadata, options.subresource);
    const body = withKind(resource, object);
    return this.#callForObject(resource, object.metadata, { ...options, method: 'PUT', path, body });
  }

  /** A JSON merge patch; conditional if it carries `metadata.resourceVersion`. */
  async patch(
    resource: Resource,
    at: ObjectName,
    patch: Readonly<Record<string, unknown>>,
    options: CallOptions & { readonly subresource?: 'status' } = {},
  ): Promise<Outcome<KubeObject>> {
    const path = objectPath(resource, at, options.subresource);
    const contentType = 'application/merge-patch+json';
    return this.#callForObject(resource, at, { ...options, method: 'PATCH', path, body: patch, contentType });
  }

  /** An object with finalizers is only marked. */
  async delete(resource: Resource, seen: Seen, options: CallOptions = {}): Promise<Outcome<null>> {
    const { uid, resourceVersion } = seen;
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid, resourceVersion } };
    const outcome = await this.#call({
      ...options,
      plural: resource.plural,
      name: seen.name,
      method: 'DELETE',
      path: objectPath(resource, seen),
      body,
    });
    return outcome.ok ? { ok: true, object: null } : outcome;
  }

  /** One watch connection, from its 200 on; the reflector knows what to do with it. */
  async openWatch(
    resource: Resource,
    query: ListQuery,
    parameters: { readonly resourceVersion: string; readonly timeoutSeconds: number },
    options: CallOptions & { readonly form?: Form } = {},
  ): Promise<OpenStream | Failure> {
    const more = { ...parameters, watch: true, allowWatchBookmarks: true };
    const call = {
      ...options,
      plural: resource.plural,
      method: 'GET',
      path: collectionPath(resource, query.namespace) + queryString(query, more),
      accept: options.form === 'metadata' ? METADATA : JSON_TYPE,
    };
    const result = await this.#transport.open(this.#rawRequest(call, options.timeoutMs ?? TIMEOUT_MS));
    if ('stream' in result) return result;
    const outcome = interpret(result, call);
    return outcome.ok ? failure('BadAnswer', 'the answer to a watch is no watch') : outcome;
  }

  /** What is under way ends as Unknown. */
  [Symbol.dispose](): void {
    this.#transport.close();
  }

  async #callForObject(resource: Resource, { name }: ObjectName, call: Omit<Call, 'plural'>): Promise<Outcome<KubeObject>> {
    const outcome = await this.#call({ ...call, plural: resource.plural, name });
    if (!outcome.ok) return outcome;
    const object = readObject(outcome.object);
    return object === null || object.metadata.name !== name
      ? failure('BadAnswer', 'the answer is not the object that was asked for')
      : { ok: true, object };
  }

  #callForPage(
    resource: Resource,
    query: ListQuery,
    options: ListOptions,
    accept: string,
    { limit, continue: next, ...more }: { limit: number; continue: string; includeObject?: string },
  ): Promise<Outcome<unknown>> {
    const paging = { limit: limit === 0 ? undefined : limit, continue: next === '' ? undefined : next };
    const path = collectionPath(resource, query.namespace) + queryString(query, { ...paging, ...more });
    const maxBytes = this.#options.maxListBytes ?? MAX_LIST_BYTES;
    return this.#call({ ...options, plural: resource.plural, method: 'GET', path, accept, maxBytes });
  }

  async #call(call: Call): Promise<Outcome<unknown>> {
    const { timing } = this;
    const deadlineMs = timing.nowMs() + (call.timeoutMs ?? TIMEOUT_MS);
    for (;;) {
      const leftMs = deadlineMs - timing.nowMs();
      const outcome = interpret(await this.#transport.send(this.#rawRequest(call, leftMs)), call);
      if (outcome.ok || outcome.because !== 'TooManyRequests') return outcome;
      const pauseMs = (outcome.retryAfterMs ?? PAUSE_AT_429_MS) * (1 + timing.random() / 4);
      if (timing.nowMs() + pauseMs >= deadlineMs || call.signal?.aborted) return outcome;
      await timing.sleep(pauseMs, call.signal);
    }
  }

  #rawRequest(call: Call, timeoutMs: number): RawRequest {
    const { method, path, signal } = call;
    return {
      method,
      path,
      headers: {
        'user-agent': this.#options.userAgent,
        accept: call.accept ?? JSON_TYPE,
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? JSON_TYPE }),
      },
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      timeoutMs,
      maxBytes: call.maxBytes ?? this.#options.maxObjectBytes ?? MAX_OBJECT_BYTES,
      signal,
    };
  }
}

function withKind(resource: Resource, object: NewObject): Readonly<Record<string, unknown>> {
  return { ...object, apiVersion: apiVersionOf(resource), kind: resource.kind };
}
