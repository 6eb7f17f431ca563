import { once } from 'node:events';
import {
  createServer,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Access } from '#pkg/kube/transport/connection.ts';

export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly stream: ServerHttp2Stream;
  readonly session: Http2Session | undefined;
  answer(status: number, body: unknown, headers?: Record<string, string>): void;
}

export type Script = (request: ScriptedRequest) => void;

/** For tests: an HTTP/2 server on loopback with scripted answers, so that every protocol error can be produced. */
export class ScriptedServer implements AsyncDisposable {
  readonly requests: ScriptedRequest[] = [];
  readonly sessions = new Set<ServerHttp2Session>();
  readonly #server: Http2Server = createServer();
  script: Script;

  private constructor(script: Script) {
    this.script = script;
    this.#server.on('session', (session) => {
      this.sessions.add(session);
      session.on('error', () => {});
      session.once('close', () => this.sessions.delete(session));
    });
    this.#server.on('stream', (stream, headers) => void this.#serve(stream, headers));
  }

  static async start(script: Script): Promise<ScriptedServer> {
    const server = new ScriptedServer(script);
    await server.listen(0);
    return server;
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  access(headers: Record<string, string> = {}): Access {
    return { origin: `http://127.0.0.1:${this.port}`, pathPrefix: '', tls: {}, headers };
  }

  cutConnections(): void {
    for (const session of this.sessions) session.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cutConnections();
    this.#server.close();
  }

  async #serve(stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>): Promise<void> {
    stream.on('error', () => {});
    const { session } = stream;
    const url = new URL(String(headers[':path']), 'http://localhost');
    const body = await text(stream).catch(() => '');
    const request: ScriptedRequest = {
      method: String(headers[':method']),
      path: url.pathname,
      query: url.searchParams,
      headers,
      body,
      stream,
      session,
      answer: (status, value, more = {}) => {
        if (stream.destroyed) return;
        stream.respond({ ':status': status, ...more });
        stream.end(typeof value === 'string' ? value : JSON.stringify(value));
      },
    };
    this.requests.push(request);
    this.script(request);
  }
}

export function statusBody(code: number, reason: string, details: Readonly<Record<string, unknown>> = {}): object {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: `because of ${reason}`,
    details,
  };
}
