import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { type Agent, request } from 'node:https';
import { json, text } from 'node:stream/consumers';

export interface ApiAccess {
  readonly url: string;
  readonly caFile: string;
}

export interface ApiCall {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  readonly body?: unknown;
  /** The content type of the body; JSON by default. */
  readonly type?: string;
  readonly timeoutMs?: number;
  readonly agent?: Agent;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
}

/** Without an agent each call has its own connection, so that no call gets one that a pause or a restart broke. */
export async function callApi(server: ApiAccess, call: ApiCall): Promise<ApiAnswer> {
  const ca = await readFile(server.caFile);
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer>();
  const outgoing = request(new URL(call.path, server.url), {
    method: call.method ?? 'GET',
    ca,
    agent: call.agent ?? false,
    signal: AbortSignal.timeout(call.timeoutMs ?? 60_000),
    headers: {
      'content-type': call.type ?? (call.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'),
      // Otherwise Node sends the body of a DELETE without a length, and the API server ignores it.
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...(call.token === undefined ? {} : { authorization: `Bearer ${call.token}` }),
    },
  });
  outgoing.once('error', reject);
  outgoing.once('response', (incoming) => {
    const isJson = incoming.headers['content-type']?.startsWith('application/json') === true;
    (isJson ? json(incoming) : text(incoming)).then(
      (answer) => resolve({ status: incoming.statusCode ?? 0, body: answer, headers: incoming.headers }),
      reject,
    );
  });
  outgoing.end(body);
  return promise;
}
