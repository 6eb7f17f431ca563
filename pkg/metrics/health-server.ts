import { type PageServer, type PageServerOptions, type ServedPage, startPageServer } from './page-server.ts';

/** Null: fine. Else why not, in one sentence. */
export type HealthCheck = () => string | null | Promise<string | null>;

export interface HealthChecks {
  readonly startup: HealthCheck;
  readonly readiness: HealthCheck;
  readonly liveness: HealthCheck;
}

/** The daemons use the network of their node: on its other addresses any host could fill the port, so that kubelet gets no answer. */
export const HEALTH_HOST = '127.0.0.1';
const ROOT = '/v1/runtime/';
const PATIENCE_MS = 4_000;

/** What kubelet asks, on the loopback address by default. A check that throws or does not end in time has failed. */
export async function startHealthServer(
  checks: HealthChecks,
  at: Omit<PageServerOptions, 'answer'>,
  patienceMs = PATIENCE_MS,
): Promise<PageServer> {
  const byPath = new Map(Object.entries(checks).map(([name, check]) => [ROOT + name, check]));
  const answer = async (path: string): Promise<ServedPage> => {
    const check = byPath.get(path);
    if (check === undefined) return page(404, `nothing here; ask ${[...byPath.keys()].join(', ')}`);
    const problem = await verdict(check, patienceMs);
    return problem === null ? page(200, 'ok') : page(500, problem);
  };
  return await startPageServer({ host: HEALTH_HOST, ...at, answer });
}

async function verdict(check: HealthCheck, patienceMs: number): Promise<string | null> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(`no answer within ${patienceMs} ms`), patienceMs);
  try {
    return await Promise.race([(async () => await check())(), late.promise]);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } finally {
    clearTimeout(timer);
  }
}

function page(status: number, text: string): ServedPage {
  return { status, contentType: 'application/json', body: JSON.stringify(text) };
}
