import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { decodeAddArgs } from '#pkg/agentapi/decode-add-args.ts';
import { decodeCheckArgs } from '#pkg/agentapi/decode-check-args.ts';
import { decodeBatchDelArgs, decodeDelArgs } from '#pkg/agentapi/decode-del-args.ts';
import { decodeGcArgs } from '#pkg/agentapi/decode-gc.ts';
import { type CallExtras, CLIENT_HEADER, type ErrorBody, PATHS } from '#pkg/agentapi/wire.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { REASONS } from '#pkg/errors/reasons.ts';
import type { Agent } from './agent.ts';
import type { Call } from './call.ts';
import { refuseConflictRelease } from './conflict-release.ts';
import { serveInspection } from './inspect/routes.ts';
import { parseBody } from './request-body.ts';
import { UnfinishedCallers } from './unfinished-callers.ts';
import { toWorkloadEndpoint } from './workload-endpoint.ts';

const MAX_BODY_BYTES = 2 * 1024 * 1024;
const DEFAULT_TIMEOUT_MS = 90_000;
/** Of Spiderpool's coordinator plugin, which asks its own agent. */
const COORDINATOR = '/v1/coordinator/config';

export interface ServerOptions {
  /** May a plugin that found a conflict itself give the addresses back? */
  readonly releasesConflictIPs?: boolean;
}

/** The socket's routes: decode, call the use case, encode. Spiderpool's paths and bodies, and ours beside them. */
export function buildServer(agent: Agent, log: Logger, options: ServerOptions = {}): FastifyInstance {
  const server = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    return503OnClosing: false,
    requestTimeout: 10_000,
    routerOptions: { maxParamLength: 200 },
  });
  const unfinished = new UnfinishedCallers(server.server);
  server.addHook('preClose', async () => unfinished.hangUpSoon());
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  server.setErrorHandler((thrown, request, reply) => answerError(thrown, request, reply, log));
  server.setNotFoundHandler((request, reply) =>
    answerError(
      new IpamError('bad-input', `${request.method} ${request.url} is not part of the agent's API`),
      request,
      reply,
      log,
    ),
  );

  server.get(PATHS.healthy, async () => '');
  server.get(PATHS.status, async () => {
    agent.readiness.throwIfNotReady();
    return { ready: true };
  });
  server.post(PATHS.ip, async (request, reply) => {
    const args = decodeAddArgs(parseBody(request));
    return await agent.add(args, callOf(reply, args));
  });
  server.delete(PATHS.ip, async (request) => {
    await agent.del(decodeDelArgs(parseBody(request)));
    return '';
  });
  server.post(PATHS.ips, async () => '');
  server.delete(PATHS.ips, async (request, reply) => {
    const args = decodeBatchDelArgs(parseBody(request));
    if (args.isReleaseConflictIPs === true) {
      const held = agent.recordsOfContainer(args.containerID);
      const refusal = refuseConflictRelease(held, options.releasesConflictIPs ?? true);
      if (refusal !== null) return await sendJson(reply, refusal.status, refusal.message);
    }
    await agent.delContainer(args);
    return '';
  });
  server.post(PATHS.check, async (request) => {
    await agent.check(decodeCheckArgs(parseBody(request)));
    return {};
  });
  server.post(PATHS.gc, async (request, reply) => {
    const args = decodeGcArgs(parseBody(request));
    return { released: await agent.gc(args, callOf(reply, args)) };
  });
  server.get<{ Querystring: Record<string, string | undefined> }>(PATHS.workloadEndpoint, async (request, reply) => {
    const { podNamespace, podName } = request.query;
    if (podNamespace === undefined || podName === undefined) {
      return await sendJson(reply, 422, 'podNamespace and podName are required');
    }
    const endpoint = toWorkloadEndpoint(agent.recordsOfPod(podNamespace, podName));
    return endpoint ?? (await sendJson(reply, 404, `no endpoint of ${podNamespace}/${podName} on this node`));
  });
  server.get(COORDINATOR, async () => {
    const message = "ipledger manages addresses only: the coordinator's configuration is not served here";
    throw new IpamError('bad-config', message);
  });
  serveInspection(server, agent);
  return server;
}

function callOf(reply: FastifyReply, { timeoutMs = DEFAULT_TIMEOUT_MS, ageMs = 0 }: CallExtras): Call {
  const gone = new AbortController();
  if (reply.raw.destroyed) gone.abort();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const arrivedAtMs = performance.now();
  return { begunAtMs: arrivedAtMs - ageMs, arrivedAtMs, deadlineMs: arrivedAtMs + timeoutMs, signal: gone.signal };
}

function answerError(thrown: unknown, request: FastifyRequest, reply: FastifyReply, log: Logger): void {
  const error = isTooLarge(thrown)
    ? new IpamError('bad-input', `the body is larger than ${MAX_BODY_BYTES} bytes`)
    : toIpamError(thrown);
  const { reason, message, details } = error;
  const fields = { method: request.method, url: request.url, reason, details };
  if (reason === 'internal') log.error({ ...fields, err: thrown }, message);
  else log.warn(fields, message);
  const body: ErrorBody = { reason, message, details };
  if (request.headers[CLIENT_HEADER] !== undefined) {
    void sendJson(reply, REASONS[reason].cni === 50 || reason === 'agent-busy' ? 503 : 500, body);
    return;
  }
  // Spiderpool's plugin reads one JSON string, and of a status it does not expect nothing at all.
  void sendJson(reply, 500, [message, details].filter(Boolean).join('\n'));
}

async function sendJson(reply: FastifyReply, status: number, value: unknown): Promise<FastifyReply> {
  return await reply.code(status).header('content-type', 'application/json').send(JSON.stringify(value));
}

function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
}
