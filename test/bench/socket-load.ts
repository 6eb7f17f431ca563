import { connect, type Socket } from 'node:net';

export interface Load {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
}

/** Keeps `inFlight` requests open over kept connections; throws when an answer is not 200. */
export async function runLoad(
  socketPath: string,
  count: number,
  inFlight: number,
  send: (client: Client, at: number) => Promise<void>,
): Promise<Load> {
  const client = new Client(socketPath);
  const latenciesMs: number[] = [];
  let next = 0;
  const startedMs = performance.now();
  const worker = async () => {
    for (let at = next++; at < count; at = next++) {
      const sentMs = performance.now();
      await send(client, at);
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (performance.now() - startedMs) / 1000;
  client.close();
  return { perSecond: count / seconds, latenciesMs };
}

/** Requests over kept connections, with minimal code: the CPU of the load is missing for the measured server. */
export class Client {
  readonly #socketPath: string;
  readonly #idle: Line[] = [];
  readonly #open = new Set<Line>();

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  get(path: string): Promise<string> {
    return this.#send('GET', path, '');
  }

  post(path: string, body: string): Promise<string> {
    return this.#send('POST', path, body);
  }

  delete(path: string, body: string): Promise<string> {
    return this.#send('DELETE', path, body);
  }

  close(): void {
    for (const line of this.#open) line.close();
  }

  #takeIdle(): Line | undefined {
    let line = this.#idle.pop();
    while (line?.isClosed) line = this.#idle.pop();
    return line;
  }

  async #send(method: string, path: string, body: string): Promise<string> {
    const line = this.#takeIdle() ?? new Line(this.#socketPath);
    this.#open.add(line);
    const length = Buffer.byteLength(body);
    const head = `${method} ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${length}`;
    const { status, text } = await line.ask(`${head}\r\n\r\n${body}`);
    this.#idle.push(line);
    if (status !== 200) throw new Error(`${method} ${path} was answered ${status}: ${text}`);
    return text;
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** One request at a time, one answer of a stated length. */
class Line {
  readonly #socket: Socket;
  #waiting: PromiseWithResolvers<Answer> | null = null;
  #received: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#socket = connect(path);
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the line was closed before the answer')));
  }

  ask(request: string): Promise<Answer> {
    this.#waiting = Promise.withResolvers();
    this.#socket.write(request);
    return this.#waiting.promise;
  }

  get isClosed(): boolean {
    return this.#socket.destroyed;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (this.#received.length < headEnd + 4 + length) return;
    const text = this.#received.toString('utf8', headEnd + 4, headEnd + 4 + length);
    this.#received = Buffer.alloc(0);
    this.#waiting?.resolve({ status: Number(head.slice(9, 12)), text });
    this.#waiting = null;
  }
}
