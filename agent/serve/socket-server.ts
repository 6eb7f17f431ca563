import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import { listen } from '#pkg/http/listen.ts';
import { readText } from '#pkg/http/read-text.ts';
import { UnfinishedCallers } from './unfinished-callers.ts';

const MAX_BODY_BYTES = 2 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
/** A caller that keeps its line says when it is done with it. */
const KEEP_ALIVE_MS = 72_000;
const LOOK_EVERY_MS = 1_000;
const NO_QUERY = new URLSearchParams();

type Method = 'GET' | 'POST' | 'DELETE';

interface Question {
  readonly query: URLSearchParams;
  /** Empty where nothing was sent. */
  readonly body: string;
  readonly response: ServerResponse;
}

/** A status other than 200. Anything else that a handler returns is the body of a 200: an empty string for none. */
export class SocketAnswer {
  readonly status: number;
  readonly value: unknown;

  constructor(status: number, value: unknown) {
    this.status = status;
    this.value = value;
  }
}

export type SocketHandler = (question: Question) => Promise<unknown>;

/** What a caller is told of a failure. */
export type Explain = (thrown: unknown, request: IncomingMessage) => SocketAnswer;

/** HTTP on a Unix socket: exact paths, JSON out, everything that is read bounded in size and time. */
export class SocketServer {
  readonly #routes = new Map<string, SocketHandler>();
  readonly #explain: Explain;
  readonly #server = createServer({
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: LOOK_EVERY_MS,
  });
  readonly #unfinished = new UnfinishedCallers(this.#server);
  #isClosing = false;

  constructor(explain: Explain) {
    this.#explain = explain;
    this.#server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  on(method: Method, path: string, handler: SocketHandler): void {
    this.#routes.set(`${method} ${path}`, handler);
  }

  listen(path: string): Promise<void> {
    return listen(this.#server, { path });
  }

  countConnections(): Promise<number> {
    return new Promise((resolve) => this.#server.getConnections((_, count) => resolve(count ?? 0)));
  }

  /** Returns when everybody who had asked is answered; who is connected may still ask. */
  close(): Promise<void> {
    this.#isClosing = true;
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#unfinished.hangUpSoon();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, text } = await this.#answer(request, response)
      .then(toText)
      .catch((thrown: unknown) => toText(this.#explain(thrown, request)));
    if (response.destroyed) return;
    response.writeHead(status, {
      'content-length': Buffer.byteLength(text),
      ...(text === '' ? {} : { 'content-type': 'application/json' }),
      ...(this.#isClosing ? { connection: 'close' } : {}),
    });
    response.end(text);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { method = '', url = '' } = request;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const body = await readText(request, MAX_BODY_BYTES);
    if (body === null) throw new IpamError('bad-input', `the body is larger than ${MAX_BODY_BYTES} bytes`);
    const handler = this.#routes.get(`${method} ${path}`);
    if (handler === undefined) throw new IpamError('bad-input', `${method} ${url} is not part of the agent's API`);
    return await handler({ query: mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark)), body, response });
  }
}

/** Throws for what has no form in JSON: a fault of the handler, which is explained like any other. */
function toText(answer: unknown): { status: number; text: string } {
  const { status, value } = answer instanceof SocketAnswer ? answer : { status: 200, value: answer };
  if (value === '') return { status, text: '' };
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new Error('the handler returned nothing to answer');
  return { status, text };
}
