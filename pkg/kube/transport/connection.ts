import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContextOptions } from 'node:tls';

/** Address and credentials of the API server at one moment. */
export interface Access {
  readonly origin: string;
  /** The prefix of every path if the API server is behind a gateway; else empty. */
  readonly pathPrefix: string;
  readonly tls: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> & {
    readonly servername?: string;
    readonly rejectUnauthorized?: boolean;
  };
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the access again from its source: tokens and certificates are replaced while the process runs. */
export type LoadAccess = () => Promise<Access>;

const FRESH_FOR_MS = 30_000;

/** The access in use. Kubelet replaces a token long before it expires, so the old one is used while the new one is read. */
export class AccessCache {
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
export class CurrentSession {
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

export interface SessionLimits {
  readonly connectTimeoutMs: number;
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
}

const STREAM_WINDOW = 1 << 20;
const SESSION_WINDOW = 16 << 20;
const MOST_MEMORY_MB = 256;

const sockets = new WeakMap<ClientHttp2Session, Socket>();

/** Resolves with a session after the first bytes of its server. The session closes itself when the server stops answering pings. */
export async function openSession(access: Access, limits: SessionLimits): Promise<ClientHttp2Session> {
  const socket = openSocket(access);
  const session = connect(access.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
    maxSessionMemory: MOST_MEMORY_MB,
  });
  sockets.set(session, socket);
  await connected(session, limits.connectTimeoutMs);
  session.setLocalWindowSize(SESSION_WINDOW); // otherwise one large list would hold up every other stream
  keepAlive(session, limits);
  return session;
}

/** Destroys the socket too: on a dead connection the session alone would wait for its last bytes for ever. */
export function destroySession(session: ClientHttp2Session, because?: Error): void {
  session.destroy(because);
  sockets.get(session)?.destroy();
}

/** Not at `connect`: Node reports no error for a TLS connection that is reset before the first bytes of the session are written. */
function connected(session: ClientHttp2Session, timeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => destroySession(session, new Error(`no connection to the API server within ${timeoutMs} ms`)),
    timeoutMs,
  );
  session.on('error', reject); // it stays: an error event without a listener ends the process
  session.once('close', () => reject(new Error('the API server closed the connection')));
  session.once('remoteSettings', () => resolve());
  return promise.finally(() => clearTimeout(timer));
}

/** A silent connection may be fine, because a watch may be silent for hours. An unanswered ping shows that it is not. */
function keepAlive(session: ClientHttp2Session, { pingEveryMs, pingTimeoutMs }: SessionLimits): void {
  let overdue: NodeJS.Timeout | undefined;
  const ping = () => {
    if (session.destroyed || overdue !== undefined) return;
    overdue = setTimeout(
      () => destroySession(session, new Error(`no answer to a ping for ${pingTimeoutMs} ms`)),
      pingTimeoutMs,
    ).unref();
    session.ping(() => {
      clearTimeout(overdue);
      overdue = undefined;
    });
  };
  const timer = setInterval(ping, pingEveryMs).unref();
  session.once('close', () => {
    clearInterval(timer);
    clearTimeout(overdue);
  });
}

/** Starts to connect: with TLS, unless the address says plain HTTP. */
function openSocket({ origin, tls }: Pick<Access, 'origin' | 'tls'>): Socket {
  const { protocol, hostname, port } = new URL(origin);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'http:') return connectTcp({ host, port: Number(port || 80) });
  const named = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ host, port: Number(port || 443), ALPNProtocols: ['h2'], ...named, ...tls });
}
