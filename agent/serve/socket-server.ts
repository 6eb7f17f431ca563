import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { listen } from '#pkg/http/listen.ts';

const MAX_BODY_BYTES = 2 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
/** A caller that keeps its line says when it is done with it. */
const KEEP_ALIVE_MS = 72_000;
const LOOK_EVERY_MS = 1_000;
const NO_QUERY = new URLSearchParams();
/** More than a plugin uses a line that it made ahead (plugin/host/src/ahead.rs), and than a request is on its way. */
const PATIENCE_MS = 2_000;

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

/** The answer to a call that failed. */
type Explain = (thrown: unknown, request: IncomingMessage) => SocketAnswer;

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

  /** Requests that have come whole and are not answered yet. */
  countUnderWay(): number {
    return this.#unfinished.countUnderWay();
  }

  /** Returns when every request that had come is answered; a caller that is connected may still ask. */
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

  /** In the words and the form of any other refusal, with this status. */
  #refuse(request: IncomingMessage, status: number, message: string): SocketAnswer {
    return new SocketAnswer(status, this.#explain(new IpamError('bad-input', message), request).value);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const { method = '', url = '' } = request;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const body = await readText(request, MAX_BODY_BYTES);
    if (body === null) throw new IpamError('bad-input', `the body is larger than ${MAX_BODY_BYTES} bytes`);
    const handler = this.#routes.get(`${method} ${path}`);
    if (handler === undefined) return this.#refuse(request, 404, `${method} ${url} is not part of the agent's API`);
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

export function parseBody(body: string): unknown {
  if (body === '') throw new IpamError('bad-input', 'the request has no body');
  try {
    return JSON.parse(body);
  } catch (thrown) {
    throw new IpamError('bad-input', `the body is not JSON: ${toIpamError(thrown).message}`, { cause: thrown });
  }
}

/**
 * Callers that are connected and have not said all. A closing server waits for them without end: Node's own limits are
 * looked after by a timer that it stops first.
 */
class UnfinishedCallers {
  readonly #server: Server;
  readonly #requests = new Map<Socket, IncomingMessage | null>();

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (line: Socket) => {
      this.#requests.set(line, null);
      line.once('close', () => this.#requests.delete(line));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#requests.set(request.socket, request);
      response.once('close', () => {
        if (this.#requests.get(request.socket) === request) this.#requests.set(request.socket, null);
      });
    });
  }

  countUnderWay(): number {
    return [...this.#requests.values()].filter((request) => request?.complete === true).length;
  }

  /** To be called when the server begins to close. A caller that finishes its request meanwhile is served. */
  hangUpSoon(): void {
    const timer = setTimeout(() => {
      for (const [line, request] of this.#requests) if (request?.complete !== true) line.destroy();
    }, PATIENCE_MS);
    this.#server.once('close', () => clearTimeout(timer));
  }
}

/**
 * The body as text. Null if it is longer than allowed: the rest is read and dropped, so that the sender gets the refusal; the server's requestTimeout ends it. Rejects if the sender goes away.
 */
export function readText(incoming: IncomingMessage, mostBytes: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostBytes) chunks.push(chunk);
      else chunks.length = 0;
    });
    incoming.once('end', () => resolve(size <= mostBytes ? joined(chunks) : null));
    incoming.once('error', reject);
    incoming.once('close', () => {
      if (!incoming.readableEnded) reject(new Error('the sender went away before the end of its body'));
    });
  });
}

function joined(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  return first !== undefined && chunks.length === 1 ? first.toString('utf8') : Buffer.concat(chunks).toString('utf8');
}
