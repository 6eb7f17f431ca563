import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** A `body` that is a string is sent unchanged. `hang` never answers, `cut` closes the connection. */
export type Reply = { readonly status?: number; readonly body: unknown } | 'hang' | 'cut';

export interface FakeAgent extends AsyncDisposable {
  readonly socketPath: string;
  readonly seen: readonly SeenRequest[];
}

/** A server on a real Unix socket with scripted answers; it stores the requests. */
export async function startFakeAgent(answer: (request: SeenRequest) => Reply): Promise<FakeAgent> {
  const directory = await mkdtemp(join(tmpdir(), 'ipl-fake-'));
  const socketPath = join(directory, 'agent.sock');
  const seen: SeenRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    seen.push(request);
    const reply = answer(request);
    if (reply === 'hang') return;
    if (reply === 'cut') return void incoming.socket.destroy();
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json' });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body));
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return {
    socketPath,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  const url = new URL(incoming.url ?? '/', 'http://agent');
  return {
    method: incoming.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: incoming.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
