import { type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

export interface SocketCall {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly timeoutMs?: number;
}

/** One request over a Unix socket on its own connection, until the answer is complete. */
export function callSocket(
  socketPath: string,
  { method = 'GET', path, body = '', headers = {}, timeoutMs = 60_000 }: SocketCall,
): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(timeoutMs);
  const sent = { 'content-length': Buffer.byteLength(body), ...headers };
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, method, headers: sent, agent: false, signal }, (answer) => {
      text(answer).then((read) => resolve({ status: answer.statusCode ?? 0, text: read }), reject);
    });
    call.on('error', reject);
    call.end(body);
  });
}
