import { type ClientHttp2Session, type ClientHttp2Stream, constants, type OutgoingHttpHeaders } from 'node:http2';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;
const inflate = promisify(gunzip);

export interface ApiResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string | NoText;
}

/** No answer. `wasSent` is false only if the API server certainly did not start on the request. */
export interface Lost {
  readonly wasSent: boolean;
  readonly message: string;
  readonly isTimeout?: boolean;
  /** The time of the caller was over, or the line was full, before anything was tried. This says nothing about the API server. */
  readonly isOutOfTime?: boolean;
}

/** An answer without an end: its 200 has arrived, its body is still to be read. */
export interface OpenStream {
  readonly stream: ClientHttp2Stream;
}

interface ExchangeLimits {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** One request on a connected session, until its whole answer is read. Never rejects. */
export async function exchange(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body: string | undefined,
  limits: ExchangeLimits,
): Promise<ApiResponse | Lost> {
  const stream = start(session, headers, body);
  return 'wasSent' in stream ? stream : collect<never>(session, stream, limits, () => null);
}

/** The same for an answer without an end: the limits hold until its first byte. */
export async function openStream(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  limits: ExchangeLimits,
): Promise<OpenStream | ApiResponse | Lost> {
  const stream = start(session, headers, undefined);
  if ('wasSent' in stream) return stream;
  return collect(session, stream, limits, (status) => (status === 200 ? { stream } : null));
}

function start(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body: string | undefined,
): ClientHttp2Stream | Lost {
  try {
    const stream = session.request(headers, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return stream;
  } catch (thrown) {
    return { wasSent: false, message: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function collect<T>(
  session: ClientHttp2Session,
  stream: ClientHttp2Stream,
  { timeoutMs, maxBytes, signal }: ExchangeLimits,
  grant: (status: number) => T | null,
): Promise<ApiResponse | Lost | T> {
  const { promise, resolve } = Promise.withResolvers<ApiResponse | Lost | T>();
  const chunks: Buffer[] = [];
  let status = 0;
  let retryAfter: string | undefined;
  let encoding: string | undefined;
  let size = 0;
  let lastError: Error | undefined;
  let isFinished = false;

  const settle = (result: ApiResponse | Lost | T) => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    resolve(result);
  };
  const giveUp = (result: ApiResponse | Lost) => {
    settle(result);
    stream.close(NGHTTP2_CANCEL);
  };
  const abort = () => giveUp({ wasSent: true, message: 'the caller gave up' });
  const expire = () =>
    giveUp({ wasSent: true, isTimeout: true, message: `no answer within ${Math.round(timeoutMs)} ms` });
  const timer = setTimeout(expire, timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });

  stream.on('response', (headers) => {
    status = headers[':status'] ?? 0;
    retryAfter = headers['retry-after'];
    encoding = headers['content-encoding'];
    const granted = grant(status);
    if (granted !== null) settle(granted);
    else stream.on('data', take);
  });
  const take = (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) giveUp({ status, retryAfter, body: { isTooLarge: true } });
    else chunks.push(chunk);
  };
  stream.on('error', (error) => {
    lastError = error;
  });
  const isWhole = () => status !== 0 && stream.readableEnded && stream.rstCode === NGHTTP2_NO_ERROR && !stream.aborted;
  const finish = () => {
    isFinished = true;
    const text = answerText(chunks, encoding, maxBytes);
    if (typeof text === 'string') settle({ status, retryAfter, body: text });
    else void text.then((body) => settle({ status, retryAfter, body }));
  };
  // For an open stream, the end of the stream is the end of its answer. For any other, the outcome is known when it is closed.
  stream.on('end', () => {
    if (!isWhole() || stream.destroyed) return;
    finish();
    // The server answered before it had read the whole request, and does not need the rest.
    if (!stream.writableFinished) stream.close(NGHTTP2_CANCEL);
  });
  stream.on('close', () => {
    if (isFinished) return;
    if (isWhole()) finish();
    else settle(lostStream(session, stream, lastError));
  });
  return promise;
}

function lostStream(session: ClientHttp2Session, stream: ClientHttp2Stream, error: Error | undefined): Lost {
  const because = session.destroyed ? 'the connection was lost' : `the stream was reset with code ${stream.rstCode}`;
  return { wasSent: stream.rstCode !== NGHTTP2_REFUSED_STREAM, message: error?.message ?? because };
}

/** Why an answer has no text: it is larger than allowed, or not what its encoding says. */
interface NoText {
  readonly isTooLarge: boolean;
}

function answerText(
  chunks: readonly Buffer[],
  encoding: string | undefined,
  maxBytes: number,
): string | Promise<string | NoText> {
  const [first] = chunks;
  const whole = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
  if (encoding !== 'gzip') return whole.toString();
  return inflate(whole, { maxOutputLength: maxBytes }).then(
    (bytes) => bytes.toString(),
    (thrown) => ({ isTooLarge: thrown?.code === 'ERR_BUFFER_TOO_LARGE' }),
  );
}
