import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SizedObjects } from './size-objects.ts';

/**
 * Stands in for an API server that has 300,000 objects, in a process of its own: lists in pages with continue tokens, watches, and
 * writes that are counted and echoed. It stores nothing, so it costs what sending costs. The parent sends commands.
 */
export type Command =
  /** Tells of changed pods, evenly over the time. */
  | { readonly do: 'change-pods'; readonly count: number; readonly ms: number }
  /** Ends every watch with 410, so that everything is listed anew, at once. */
  | { readonly do: 'expire' };

const LISTED_AT = 1_000_000;
const TICK_MS = 20;

interface Kind {
  readonly count: number;
  readonly make: (at: number) => object;
}

const [, , given = '1000', workloads = '0'] = process.argv;
const deployments = Number(workloads);
const all = new SizedObjects(Number(given));
const KINDS: Readonly<Record<string, Kind>> = {
  pods: { count: all.count, make: (at) => all.pod(at) },
  iprecords: { count: all.count, make: (at) => all.record(at) },
  spiderendpoints: { count: all.count, make: (at) => all.endpoint(at) },
  spiderippools: { count: all.pools, make: (at) => all.pool(at) },
  nodes: { count: all.nodes, make: (at) => all.node(at) },
  deployments: { count: deployments, make: (at) => all.deployment(at) },
  replicasets: { count: 10 * deployments, make: (at) => all.replicaSet(at) },
  leases: { count: all.nodes, make: (at) => all.lease(at) },
};
const watches = new Map<ServerHttp2Stream, string>();
const writes = new Map<string, number>();
let version = LISTED_AT;
let lists = 0;

const server = createServer();
server.on('session', (session) => session.on('error', () => {}));
server.on('stream', (stream, headers) => {
  stream.on('error', () => {});
  void text(stream).then((body) => serve(stream, String(headers[':method']), String(headers[':path']), body));
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
process.on('message', (command: Command) => void obey(command));

function serve(stream: ServerHttp2Stream, method: string, path: string, body: string): void {
  const url = new URL(path, 'http://localhost');
  const parts = url.pathname.split('/').slice(url.pathname.startsWith('/apis/') ? 4 : 3);
  const [plural = '', name] = parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts;
  const at = { kind: plural, name: name ?? '' };
  if (method !== 'GET') write(stream, method, plural, body);
  else if (url.searchParams.has('watch')) open(stream, plural);
  else if (name === undefined) list(stream, plural, url.searchParams);
  else if (name === 'ipledger-adopted') answer(stream, 200, { metadata: { name, uid: 'u', resourceVersion: '1' } });
  else answer(stream, 404, { kind: 'Status', code: 404, reason: 'NotFound', details: at });
}

function list(stream: ServerHttp2Stream, plural: string, query: URLSearchParams): void {
  const { count, make } = KINDS[plural] ?? { count: 0, make: () => ({}) };
  const start = Number(query.get('continue') ?? 0);
  const end = Math.min(count, start + Number(query.get('limit') ?? count));
  const items = Array.from({ length: end - start }, (_, at) => make(start + at));
  const more = end < count ? { continue: String(end), remainingItemCount: count - end } : {};
  if (end === count && query.get('limit') !== '1') lists += 1;
  answer(stream, 200, { kind: 'List', metadata: { resourceVersion: String(LISTED_AT), ...more }, items });
}

function open(stream: ServerHttp2Stream, plural: string): void {
  stream.respond({ ':status': 200 });
  watches.set(stream, plural);
  stream.once('close', () => watches.delete(stream));
}

/** What is written is stored nowhere; its author reads it back as it is. */
function write(stream: ServerHttp2Stream, method: string, plural: string, body: string): void {
  if (plural !== 'leases') writes.set(`${method} ${plural}`, (writes.get(`${method} ${plural}`) ?? 0) + 1);
  version += 1;
  const { metadata = {}, ...rest } = JSON.parse(body || '{}');
  const stored = {
    uid: 'u',
    creationTimestamp: new Date().toISOString(),
    ...metadata,
    resourceVersion: String(version),
  };
  answer(stream, method === 'POST' ? 201 : 200, { ...rest, metadata: stored });
}

function answer(stream: ServerHttp2Stream, status: number, body: object): void {
  if (stream.destroyed) return;
  stream.respond({ ':status': status, 'content-type': 'application/json' });
  stream.end(JSON.stringify(body));
}

async function obey(command: Command): Promise<void> {
  if (command.do === 'expire') {
    lists = 0;
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
    for (const stream of watches.keys()) stream.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
    while (lists < Object.keys(KINDS).length) await new Promise((resolve) => setTimeout(resolve, 50));
  } else {
    const startedMs = performance.now();
    for (let sent = 0; sent < command.count; ) {
      const due = Math.min(command.count, Math.ceil(((performance.now() - startedMs) / command.ms) * command.count));
      for (; sent < due; sent += 1) tellPod(sent);
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }
  process.send?.({ done: command.do, writes: Object.fromEntries(writes) });
}

function tellPod(sent: number): void {
  version += 1;
  const line = `${JSON.stringify({ type: 'MODIFIED', object: all.pod((sent * 7_919) % all.count, version) })}\n`;
  for (const [stream, plural] of watches) if (plural === 'pods') stream.write(line);
}
