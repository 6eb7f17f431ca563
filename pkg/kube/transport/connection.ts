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
