import { type ClientHttp2Session, type ClientHttp2Stream, constants, type OutgoingHttpHeaders } from 'node:http2';

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM, NGHTTP2_NO_ERROR } = constants;

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  /** Null when it was larger than allowed. */
  readonly body: string | null;
}

/** No answer. `wasSent` is false only if the API server certainly did not start on the request. */
export interface Lost {
  readonly wasSent: boolean;
  readonly message: string;
  readonly isTimeout?: boolean;
}

export interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** One request on a connected session, to its whole answer. Never rejects. */
export function exchange(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body: string | undefined,
  limits: ExchangeLimits,
): Promise<Answer | Lost> {
  let stream: ClientHttp2Stream;
  try {
    stream = session.request(headers, { endStream: body === undefined });
  } catch (thrown) {
    return Promise.resolve({ wasSent: false, message: messageOf(thrown) });
  }
  if (body !== undefined) stream.end(body);
  return collect(session, stream, limits);
}

function collect(
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
  { timeoutMs, maxBytes, signal }: ExchangeLimits,
): Promise<Answer | Lost> {
  const { promise, resolve } = Promise.withResolvers<Answer | Lost>();
  const chunks: Buffer[] = [];
  let status = 0;
  let retryAfter: string | undefined;
  let size = 0;
  let lastError: Error | undefined;

  const settle = (result: Answer | Lost) => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    resolve(result);
  };
  const giveUp = (result: Answer | Lost) => {
    settle(result);
    stream.close(NGHTTP2_CANCEL);
  };
  const abort = () => giveUp({ wasSent: true, message: 'the caller gave up' });
  const timer = setTimeout(
    () => giveUp({ wasSent: true, isTimeout: true, message: `no answer within ${Math.round(timeoutMs)} ms` }),
    timeoutMs,
  );
  signal?.addEventListener('abort', abort, { once: true });

  stream.on('response', (headers) => {
    status = headers[':status'] ?? 0;
    retryAfter = headers['retry-after'];
  });
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) giveUp({ status, retryAfter, body: null });
    else chunks.push(chunk);
  });
  stream.on('error', (error) => {
    lastError = error;
  });
  stream.on('close', () => {
    const isWhole = status !== 0 && stream.readableEnded && stream.rstCode === NGHTTP2_NO_ERROR && !stream.aborted;
    settle(isWhole ? { status, retryAfter, body: textOf(chunks) } : lostStream(session, stream, lastError));
  });
  return promise;
}

function lostStream(session: ClientHttp2Session, stream: ClientHttp2Stream, error: Error | undefined): Lost {
  const wasRefused = stream.rstCode === NGHTTP2_REFUSED_STREAM;
  const cause = error?.message ?? (session.destroyed ? 'the connection was lost' : `reset with code ${stream.rstCode}`);
  return { wasSent: !wasRefused, message: cause };
}

function textOf(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first.toString() : Buffer.concat(chunks).toString();
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
