import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** More than a plugin uses a line that it made ahead (plugin/host/src/ahead.rs), and than a request is on its way. */
const PATIENCE_MS = 2_000;

/**
 * Callers that are connected and have not said all. A closing server waits for them without end: Node's own limits are
 * looked after by a timer that it stops first.
 */
export class UnfinishedCallers {
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

  /** To be called when the server begins to close. Who speaks up meanwhile is served. */
  hangUpSoon(): void {
    const timer = setTimeout(() => {
      for (const [line, request] of this.#requests) if (request?.complete !== true) line.destroy();
    }, PATIENCE_MS);
    this.#server.once('close', () => clearTimeout(timer));
  }
}
