import { Agent, request } from 'node:http';

export interface Load {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
}

/** So many requests in flight over kept connections; throws when one is not answered with 200. */
export async function runLoad(
  socketPath: string,
  count: number,
  inFlight: number,
  send: (client: Client, at: number) => Promise<void>,
): Promise<Load> {
  const client = new Client(socketPath, inFlight);
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

export class Client {
  readonly #agent: Agent;
  readonly #socketPath: string;

  constructor(socketPath: string, sockets: number) {
    this.#socketPath = socketPath;
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets });
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
    this.#agent.destroy();
  }

  #send(method: string, path: string, body: string): Promise<string> {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const call = request({ socketPath: this.#socketPath, path, method, headers, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${method} ${path} was answered ${response.statusCode}: ${text}`));
        });
      });
      call.on('error', reject);
      call.end(body);
    });
  }
}
