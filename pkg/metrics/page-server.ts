import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { boundConnections } from '#pkg/http/bound-connections.ts';
import { listen } from '#pkg/http/listen.ts';

export interface ServedPage {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

export interface PageServerOptions {
  /** 0: any that is free. */
  readonly port: number;
  /** All addresses of the host by default. */
  readonly host?: string;
  /** What the person who must change the port has to change. */
  readonly portSetting: string;
  /** `path` without its query. */
  readonly answer: (path: string) => Promise<ServedPage>;
}

export interface PageServer extends AsyncDisposable {
  readonly port: number;
}

const MOST_CONNECTIONS = 64;
const TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 8 * 1024;

/** A few read-only pages over HTTP, without authentication: bounded in connections, time and size. */
export async function startPageServer({ answer, port, host, portSetting }: PageServerOptions): Promise<PageServer> {
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS };
  const server = createServer({ ...limits, keepAliveTimeout: TIMEOUT_MS, connectionsCheckingInterval: 1_000 });
  boundConnections(server, { most: MOST_CONNECTIONS, requestMs: TIMEOUT_MS });
  server.on('request', (request, response) => {
    void reply(request, response, answer);
  });
  await listen(server, { port, host }).catch((thrown: NodeJS.ErrnoException) => {
    const why = thrown.code === 'EADDRINUSE' ? 'another process uses it' : thrown.message;
    throw new IpamError('bad-config', `port ${port} (${portSetting}) cannot be opened: ${why}`, { cause: thrown });
  });
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => close(server),
  };
}

async function reply(request: IncomingMessage, response: ServerResponse, answer: PageServerOptions['answer']) {
  request.resume();
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD', connection: 'close' }).end();
    return;
  }
  const page = await answer(request.url?.split('?', 1)[0] ?? '/').catch(toFault);
  response.writeHead(page.status, { 'content-type': page.contentType, 'content-length': Buffer.byteLength(page.body) });
  response.end(request.method === 'HEAD' ? '' : page.body);
}

function toFault(thrown: unknown): ServedPage {
  return { status: 500, contentType: 'text/plain; charset=utf-8', body: `${toIpamError(thrown).message}\n` };
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}
