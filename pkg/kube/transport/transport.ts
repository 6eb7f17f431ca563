import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2';
import { Slots } from '#pkg/concurrency/slots.ts';
import { AccessCache, CurrentSession, type LoadAccess, type SessionLimits } from './connection.ts';
import { type ApiResponse, exchange, type Lost, type OpenStream, openStream } from './exchange.ts';
import { within } from './timing.ts';

export interface TransportLimits extends SessionLimits {
  readonly inFlight: number;
  readonly waiting: number;
}

export const TRANSPORT_LIMITS: TransportLimits = {
  connectTimeoutMs: 5_000,
  pingEveryMs: 10_000,
  pingTimeoutMs: 10_000,
  inFlight: 128,
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
      return { wasSent: false, message: 'too many requests to the API server are under way' };
    }
    try {
      return await this.#attempt(request, deadlineMs, (session, headers, leftMs) =>
        exchange(session, headers, request.body, { ...request, timeoutMs: leftMs }),
      );
    } finally {
      this.#slots.giveBack();
    }
  }

  /** For a watch: it takes no slot, and `timeoutMs` ends with the first byte. */
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
