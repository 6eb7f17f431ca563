import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { Call } from '#agent/calls/call.ts';
import { toWorkloadEndpoint } from '#agent/inspect/workload-endpoint.ts';
import { type ConflictReleaseOptions, keptInConflict, refuseConflictRelease } from '#agent/release/conflict-release.ts';
import {
  decodeAddArgs,
  decodeBatchDelArgs,
  decodeCheckArgs,
  decodeDelArgs,
  decodeGcArgs,
} from '#pkg/agentapi/decode-args.ts';
import { type CallExtras, CLIENT_HEADER, type ErrorBody, PATHS } from '#pkg/agentapi/wire.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { REASONS } from '#pkg/errors/reasons.ts';
import type { Agent } from './agent.ts';
import { serveInspection } from './inspection-routes.ts';
import { parseBody, SocketAnswer, SocketServer } from './socket-server.ts';

const DEFAULT_TIMEOUT_MS = 90_000;
const MOST_STATUS_MS = 60_000;
/** Of Spiderpool's coordinator plugin, which asks its own agent. */
const COORDINATOR = '/v1/coordinator/config';

/** The socket's routes: decode, call the use case, encode. Spiderpool's paths and bodies, and ours beside them. */
export function buildServer(agent: Agent, log: Logger, options: ConflictReleaseOptions = {}): SocketServer {
  const server = new SocketServer((thrown, request) => explain(thrown, request, log));
  server.on('GET', PATHS.healthy, async () => '');
  server.on('GET', PATHS.status, async ({ query, response }) => {
    const timeoutMs = Number(query.get('timeoutMs') ?? 0);
    // A node whose agent starts is not to become NotReady. A caller without a time limit gets its answer at once.
    if (timeoutMs > 0) await agent.readiness.wait(callOf(response, { timeoutMs: Math.min(timeoutMs, MOST_STATUS_MS) }));
    agent.readiness.throwIfNotReady();
    return { ready: true };
  });
  server.on('POST', PATHS.ip, async ({ body, response }) => {
    const args = decodeAddArgs(parseBody(body));
    return await agent.add(args, callOf(response, args));
  });
  server.on('DELETE', PATHS.ip, async ({ body }) => {
    await agent.del(decodeDelArgs(parseBody(body)));
    return '';
  });
  server.on('POST', PATHS.ips, async () => '');
  server.on('DELETE', PATHS.ips, async ({ body }) => {
    const args = decodeBatchDelArgs(parseBody(body));
    if (args.isReleaseConflictIPs === true) {
      const held = agent.recordsOfContainer(args.containerID);
      const refusal = refuseConflictRelease(held, options);
      if (refusal !== null) return new SocketAnswer(refusal.status, refusal.message);
    }
    const [kept] = await agent.delContainer(args);
    if (kept === undefined) return '';
    const { status, message } = keptInConflict(kept);
    return new SocketAnswer(status, message);
  });
  server.on('POST', PATHS.check, async ({ body }) => {
    await agent.check(decodeCheckArgs(parseBody(body)));
    return {};
  });
  server.on('POST', PATHS.gc, async ({ body, response }) => {
    const args = decodeGcArgs(parseBody(body));
    return { released: await agent.gc(args, callOf(response, args)) };
  });
  server.on('GET', PATHS.workloadEndpoint, async ({ query }) => {
    const [namespace, name] = [query.get('podNamespace'), query.get('podName')];
    if (namespace === null || name === null) return new SocketAnswer(422, 'podNamespace and podName are required');
    const endpoint = toWorkloadEndpoint(agent.recordsOfPod(namespace, name));
    return endpoint ?? new SocketAnswer(404, `no endpoint of ${namespace}/${name} on this node`);
  });
  server.on('GET', COORDINATOR, async () => {
    const message = "ipledger manages addresses only: the coordinator's configuration is not served here";
    throw new IpamError('bad-config', message);
  });
  serveInspection(server, agent);
  return server;
}

function callOf(response: ServerResponse, { timeoutMs = DEFAULT_TIMEOUT_MS, ageMs = 0 }: CallExtras): Call {
  const gone = new AbortController();
  // The end of the connection is watched, not that of the response: a response that waits behind another one gets no event.
  const { socket } = response.req;
  const abort = () => gone.abort();
  if (socket.destroyed) abort();
  socket.once('close', abort);
  response.once('finish', () => socket.off('close', abort));
  const arrivedAtMs = performance.now();
  return { begunAtMs: arrivedAtMs - ageMs, arrivedAtMs, deadlineMs: arrivedAtMs + timeoutMs, signal: gone.signal };
}

function explain(thrown: unknown, { method, url, headers }: IncomingMessage, log: Logger): SocketAnswer {
  const { reason, message, details } = toIpamError(thrown);
  const fields = { method, url, reason, details };
  if (reason === 'internal') log.error({ ...fields, err: thrown }, message);
  else log.warn(fields, message);
  // Spiderpool's plugin reads one JSON string, and of a status it does not expect nothing at all.
  if (headers[CLIENT_HEADER] === undefined) return new SocketAnswer(500, [message, details].filter(Boolean).join('\n'));
  const body: ErrorBody = { reason, message, details };
  return new SocketAnswer(REASONS[reason].cni === 50 || reason === 'agent-busy' ? 503 : 500, body);
}
