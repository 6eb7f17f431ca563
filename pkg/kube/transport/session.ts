import { type ClientHttp2Session, connect } from 'node:http2';
import type { Socket } from 'node:net';
import type { Access } from './access.ts';
import { openSocket } from './open-socket.ts';

export interface SessionLimits {
  readonly connectTimeoutMs: number;
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
}

const STREAM_WINDOW = 1 << 20;
const SESSION_WINDOW = 16 << 20;
const MOST_MEMORY_MB = 256;

const sockets = new WeakMap<ClientHttp2Session, Socket>();

/** Resolves with a session whose server has spoken, and which from then on dies by itself when that stops answering pings. */
export async function openSession(access: Access, limits: SessionLimits): Promise<ClientHttp2Session> {
  const socket = openSocket(access);
  const session = connect(access.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
    maxSessionMemory: MOST_MEMORY_MB,
  });
  sockets.set(session, socket);
  await connected(session, limits.connectTimeoutMs);
  session.setLocalWindowSize(SESSION_WINDOW); // else one large list holds up every other stream
  keepAlive(session, limits);
  return session;
}

/** With its socket: a session alone waits for its last bytes to be written, which on a dead connection is for ever. */
export function destroySession(session: ClientHttp2Session, because?: Error): void {
  session.destroy(because);
  sockets.get(session)?.destroy();
}

/** Not at `connect`: Node never tells of a TLS connection that is reset before the first bytes of the session are written. */
function connected(session: ClientHttp2Session, timeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => destroySession(session, new Error(`no connection to the API server within ${timeoutMs} ms`)),
    timeoutMs,
  );
  session.on('error', reject); // stays: an error event that nobody hears ends the process
  session.once('close', () => reject(new Error('the API server closed the connection')));
  session.once('remoteSettings', () => resolve());
  return promise.finally(() => clearTimeout(timer));
}

/** Silence is no sign of death: a watch may be silent for hours. An unanswered ping is one. */
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
