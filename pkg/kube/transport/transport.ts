import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { Slots } from '#pkg/concurrency/slots.ts';
import { type Access, destroySession, type LoadAccess, openSession, type SessionLimits } from './connection.ts';
import { type ApiResponse, exchange, type Lost, type OpenStream, openStream } from './exchange.ts';
import { within } from './timing.ts';

export interface TransportLimits extends SessionLimits {
  readonly inFlight: number;
  readonly waiting: number;
}

/**
 * An API server answers 100 requests at once on one connection, watches included. A request beyond them would wait inside the HTTP/2
 * client, where it cannot be told from one that was sent.
 */
const IN_FLIGHT = 64;

export const TRANSPORT_LIMITS: TransportLimits = {
  connectTimeoutMs: 5_000,
  pingEveryMs: 10_000,
  pingTimeoutMs: 10_000,
  inFlight: IN_FLIGHT,
  waiting: 4_096,
};

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

type Attempt<T> = (
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  leftMs: number,
) => Promise<T | ApiResponse | Lost>;

const MOST_ATTEMPTS = 3;
const FRESH_FOR_MS = 30_000;

/** Requests to the API server over one HTTP/2 session at a time. No promise rejects: failures are in the result. */
export class Transport {
  readonly #access: AccessCache;
  readonly #sessions: CurrentSession;
  readonly #slots: Slots;

  constructor(loadAccess: LoadAccess, limits: TransportLimits = TRANSPORT_LIMITS) {
    this.#access = new AccessCache(loadAccess);
    this.#sessions = new CurrentSession(() => this.#access.reload(), limits);
    this.#slots = new Slots(limits.inFlight, limits.waiting);
  }

  /** `timeoutMs` includes the time in the queue and the time to connect. */
  async send(request: RawRequest): Promise<ApiResponse | Lost> {
    const deadlineMs = performance.now() + request.timeoutMs;
    if (!(await this.#slots.takeWithin(request.timeoutMs, request.signal))) {
      return { wasSent: false, isOutOfTime: true, message: 'too many requests to the API server are under way' };
    }
    try {
      return await this.#attempt(request, deadlineMs, (session, headers, leftMs) =>
        exchange(session, headers, request.body, { ...request, timeoutMs: leftMs }),
      );
    } finally {
      this.#slots.giveBack();
    }
  }

  /** Opens a watch: it takes no slot, and `timeoutMs` ends with the first byte. */
  open(request: RawRequest): Promise<OpenStream | ApiResponse | Lost> {
    const deadlineMs = performance.now() + request.timeoutMs;
    return this.#attempt(request, deadlineMs, (session, headers, leftMs) =>
      openStream(session, headers, { ...request, timeoutMs: leftMs }),
    );
  }

  close(): void {
    this.#sessions.close();
  }

  /** Repeats only what the API server certainly did not do: refused streams, and once a 401 with the credentials that are on disk now. */
  async #attempt<T extends object>(
    request: RawRequest,
    deadlineMs: number,
    perform: Attempt<T>,
  ): Promise<T | ApiResponse | Lost> {
    let hasReloaded = false;
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.#session(request, deadlineMs);
      if ('wasSent' in session) return session;
      const access = await this.#access.current();
      const headers = {
        ...access.headers,
        ...request.headers,
        ':method': request.method,
        ':path': access.pathPrefix + request.path,
      };
      const result = await perform(session, headers, Math.max(1, deadlineMs - performance.now()));
      if ('wasSent' in result) {
        // Only a new connection may reach another, healthier server; the ping decides on the old one.
        if (result.isTimeout || !result.wasSent) this.#sessions.retire(session);
        if (result.wasSent || attempt === MOST_ATTEMPTS) return result;
        continue;
      }
      if (!('status' in result) || result.status !== 401 || hasReloaded) return result;
      hasReloaded = true;
      this.#sessions.retire(session);
    }
  }

  async #session({ signal }: RawRequest, deadlineMs: number): Promise<ClientHttp2Session | Lost> {
    if (signal?.aborted) return { wasSent: false, message: 'the caller gave up' };
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) return { wasSent: false, isOutOfTime: true, message: 'no time was left to send it' };
    try {
      const session = this.#sessions.get();
      if (!(session instanceof Promise)) return session;
      const connected = await within(session, leftMs, signal);
      return connected ?? { wasSent: false, message: 'no connection to the API server in time' };
    } catch (thrown) {
      return { wasSent: false, message: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  }
}

/** The access in use. Kubelet replaces a token long before it expires, so the old one is used while the new one is read. */
class AccessCache {
  readonly #load: LoadAccess;
  #access: Access | null = null;
  #loadedAtMs = 0;
  #loading: Promise<Access> | null = null;

  constructor(load: LoadAccess) {
    this.#load = load;
  }

  current(): Access | Promise<Access> {
    if (this.#access === null) return this.reload();
    if (performance.now() - this.#loadedAtMs > FRESH_FOR_MS) this.reload().catch(() => {}); // the access in use stays
    return this.#access;
  }

  reload(): Promise<Access> {
    this.#loading ??= this.#reload().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #reload(): Promise<Access> {
    this.#loadedAtMs = performance.now(); // a failing source is read again after the same time
    this.#access = await this.#load();
    return this.#access;
  }
}

/**
 * The one session that new requests use. It is opened at the first use. A retired session finishes its requests and closes. Each
 * connect reads the access again: the CA, a client certificate or the address may have been replaced.
 */
class CurrentSession {
  readonly #loadAccess: () => Promise<Access>;
  readonly #limits: SessionLimits;
  readonly #open = new Set<ClientHttp2Session>();
  #current: ClientHttp2Session | null = null;
  #opening: Promise<ClientHttp2Session> | null = null;
  #isClosed = false;

  constructor(loadAccess: () => Promise<Access>, limits: SessionLimits) {
    this.#loadAccess = loadAccess;
    this.#limits = limits;
  }

  /** Rejects if no connection can be made. */
  get(): ClientHttp2Session | Promise<ClientHttp2Session> {
    if (this.#current !== null && !this.#current.closed && !this.#current.destroyed) return this.#current;
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  retire(session: ClientHttp2Session): void {
    if (this.#current === session) this.#current = null;
    if (!session.closed) session.close();
  }

  /** Requests under way end without an answer. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#open) destroySession(session);
  }

  async #connect(): Promise<ClientHttp2Session> {
    if (this.#isClosed) throw new Error('the client is closed');
    const session = await openSession(await this.#loadAccess(), this.#limits);
    this.#open.add(session);
    session.once('close', () => this.#open.delete(session));
    if (this.#isClosed) destroySession(session);
    this.#current = session;
    return session;
  }
}
