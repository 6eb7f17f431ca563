import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { BodyBudget } from '#pkg/http/body-budget.ts';
import { boundConnections } from '#pkg/http/bound-connections.ts';
import { listen } from '#pkg/http/listen.ts';
import { isMap } from '#pkg/kube/objects/kube-object.ts';
import type { Identity } from './certificate.ts';
import type { Handler } from './handlers.ts';
import { readReview } from './review.ts';
import { toResponse } from './verdict.ts';

export interface AdmissionServerOptions {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly identity: Identity;
  /** PEM. With it, only clients with a certificate of this CA are answered. */
  readonly clientCa?: string | undefined;
  readonly port: number;
  readonly host?: string;
  readonly log: Logger;
}

export interface AdmissionServer extends AsyncDisposable {
  readonly port: number;
  /** From the next handshake on. */
  present(identity: Identity): void;
}

/** Object and old object of 1.5 MiB each at the most, as etcd has it, and the review around them. */
const MOST_BYTES = 8 << 20;
/** The limit of all reviews that are read or judged at the same time, with what JSON.parse makes of them. */
const MOST_BYTES_TOGETHER = 48 << 20;
const MOST_CONNECTIONS = 128;
/** Handshake, headers and body of a review are there at once; only its judgement may have to wait. */
const ARRIVAL_MS = 5_000;
const ANSWER_MS = 15_000;
const HEALTH = '/webhook-health-check';

/** The webhook on TLS. Whatever it is sent, it answers or refuses, and goes on. */
export async function startAdmissionServer(options: AdmissionServerOptions): Promise<AdmissionServer> {
  const { handlers, identity, clientCa, port, host, log } = options;
  const trust = { minVersion: 'TLSv1.2', ...(clientCa === undefined ? {} : { ca: clientCa }) } as const;
  const server = createServer({
    ...identity,
    ...trust,
    requestCert: clientCa !== undefined,
    rejectUnauthorized: clientCa !== undefined,
    requestTimeout: ARRIVAL_MS,
    headersTimeout: ARRIVAL_MS,
    handshakeTimeout: ARRIVAL_MS,
    connectionsCheckingInterval: 1_000,
  });
  boundConnections(server, { most: MOST_CONNECTIONS, requestMs: ANSWER_MS });
  const budget = new BodyBudget(MOST_BYTES_TOGETHER);
  server.on('request', (incoming, outgoing) => {
    answer(incoming, outgoing, { handlers, budget, log }).catch((thrown: unknown) => {
      log.error({ err: thrown, path: incoming.url?.slice(0, 200) }, 'admission request failed');
      send(outgoing, 500, { message: 'the webhook failed; its log says why' });
    });
  });
  server.on('tlsClientError', (error) => log.debug({ err: error }, 'TLS handshake failed'));
  await listen(server, { port, host });
  return {
    port: (server.address() as AddressInfo).port,
    present: ({ cert, key }) => server.setSecureContext({ cert, key, ...trust }),
    [Symbol.asyncDispose]: () => stop(server),
  };
}

interface Answering {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly budget: BodyBudget;
  readonly log: Logger;
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { handlers, budget, log }: Answering,
): Promise<void> {
  const path = (incoming.url ?? '').split('?')[0] ?? '';
  if (path === HEALTH && incoming.method === 'GET') return send(outgoing, 200, {});
  const handler = handlers.get(path);
  if (handler === undefined) return send(outgoing, 404, { message: 'no such webhook' });
  if (incoming.method !== 'POST') return send(outgoing, 405, { message: 'a review is sent with POST' });
  const body = await budget.read(incoming, MOST_BYTES);
  if ('refusal' in body) {
    if (body.refusal === 'too-long')
      return send(outgoing, 413, { message: `a review has at most ${MOST_BYTES} bytes` });
    return send(outgoing, 503, { message: 'too many reviews at once; try again' });
  }
  try {
    await answerReview(body.text, outgoing, handler, log);
  } finally {
    body.release();
  }
}

async function answerReview(text: string, outgoing: ServerResponse, handler: Handler, log: Logger): Promise<void> {
  const review = tryReview(text);
  if ('problem' in review) return send(outgoing, 400, { message: review.problem });
  const verdict = await handler.judge(review);
  const name = review.name || nameIn(review.object) || nameIn(review.oldObject);
  if (!verdict.allowed)
    log.info({ kind: handler.kind, object: name, operation: review.operation, ...verdict }, 'refused');
  const response = toResponse(review.uid, verdict, { kind: handler.kind, name });
  send(outgoing, 200, { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
}

function tryReview(text: string): ReturnType<typeof readReview> | { readonly problem: string } {
  try {
    return readReview(JSON.parse(text));
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message.slice(0, 300) : 'not an AdmissionReview' };
  }
}

function nameIn(object: Readonly<Record<string, unknown>> | null): string {
  const metadata = object?.['metadata'];
  const name = isMap(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name.slice(0, 253) : '';
}

function send(outgoing: ServerResponse, status: number, body: object): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // The API server keeps its connections; what is being answered gets a moment.
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
  });
}
