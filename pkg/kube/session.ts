import { type ClientHttp2Session, connect } from 'node:http2';
import type { Access } from './access.ts';

export interface SessionLimits {
  readonly connectTimeoutMs: number;
  readonly pingEveryMs: number;
  readonly pingTimeoutMs: number;
}

const STREAM_WINDOW = 1 << 20;
const SESSION_WINDOW = 16 << 20;
const MOST_MEMORY_MB = 256;

/** Resolves with a connected session, which from then on dies by itself when the other side stops answering pings. */
export async function openSession(access: Access, limits: SessionLimits): Promise<ClientHttp2Session> {
  const session = connect(access.origin, {
    ...access.tls,
    settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
    maxSessionMemory: MOST_MEMORY_MB,
  });
  await connected(session, limits.connectTimeoutMs);
  session.setLocalWindowSize(SESSION_WINDOW); // else one large list holds up every other stream
  keepAlive(session, limits);
  return session;
}

function connected(session: ClientHttp2Session, timeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => session.destroy(new Error(`no connection to the API server within ${timeoutMs} ms`)),
    timeoutMs,
  );
  session.on('error', reject); // stays: an error event that nobody hears ends the process
  session.once('close', () => reject(new Error('the API server closed the connection')));
  session.once('connect', resolve);
  return promise.finally(() => clearTimeout(timer));
}

/** Silence is no sign of death: a watch may be silent for hours. An unanswered ping is one. */
function keepAlive(session: ClientHttp2Session, { pingEveryMs, pingTimeoutMs }: SessionLimits): void {
  let overdue: NodeJS.Timeout | undefined;
  const ping = () => {
    if (session.destroyed || overdue !== undefined) return;
    overdue = setTimeout(
      () => session.destroy(new Error(`no answer to a ping for ${pingTimeoutMs} ms`)),
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
