import { request } from 'node:http';
import { PATHS } from '#pkg/agentapi/wire.ts';
import type { HealthChecks } from '#pkg/metrics/health-server.ts';

const SOCKET_PATIENCE_MS = 3_000;

export interface HealthSource {
  /** Null once records, pods and pools are read and the cluster's state is adopted; else what is still missing. */
  readonly whyNotReady: () => string | null;
  /** Null before the socket is served for the first time. */
  readonly socketPath: () => string | null;
}

/**
 * Ready: an ADD could be answered. Alive: the socket answers; one that is not served yet is not dead. The API server
 * decides nothing here: restarting agents because it is away would only make things worse.
 */
export function agentHealth({ whyNotReady, socketPath }: HealthSource): HealthChecks {
  const liveness = async () => {
    const path = socketPath();
    return path === null ? null : await findSocketProblem(path);
  };
  return { startup: whyNotReady, readiness: async () => whyNotReady() ?? (await liveness()), liveness };
}

async function findSocketProblem(socketPath: string): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const asked = request({
    socketPath,
    path: PATHS.healthy,
    agent: false,
    signal: AbortSignal.timeout(SOCKET_PATIENCE_MS),
  });
  asked.on('response', (answer) => {
    answer.resume();
    resolve(answer.statusCode === 200 ? null : `the socket ${socketPath} answers ${answer.statusCode}`);
  });
  asked.on('error', ({ message }) => resolve(`the socket ${socketPath} does not answer: ${message}`));
  asked.end();
  return await promise;
}
