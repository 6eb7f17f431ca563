import { sumCounter } from '#test/support/api-metrics.ts';
import type { RunningServer } from '#test/support/api-server.ts';

const VERBS = ['POST', 'PUT', 'DELETE', 'GET', 'LIST', 'PATCH', 'WATCH'];

/** How many requests about records an act made, by the count of the API server itself; verbs without any are left out. */
export async function recordRequests(
  server: RunningServer,
  act: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const before = await counts(server);
  await act();
  const after = await counts(server);
  const made = VERBS.map((verb) => [verb, (after.get(verb) ?? 0) - (before.get(verb) ?? 0)] as const);
  return Object.fromEntries(made.filter(([, requests]) => requests > 0));
}

async function counts(server: RunningServer): Promise<Map<string, number>> {
  const metrics = await server.metrics();
  const count = (verb: string) => sumCounter(metrics, 'apiserver_request_total', { resource: 'iprecords', verb });
  return new Map(VERBS.map((verb) => [verb, count(verb)]));
}

/** Bytes of all answers to lists of records so far. */
export async function listedBytes(server: RunningServer): Promise<number> {
  const labels = { resource: 'iprecords', verb: 'LIST' };
  return sumCounter(await server.metrics(), 'apiserver_response_sizes_sum', labels);
}

/** Watches of records that are open now. */
export async function openWatches(server: RunningServer): Promise<number> {
  const labels = { resource: 'iprecords', verb: 'WATCH' };
  return sumCounter(await server.metrics(), 'apiserver_longrunning_requests', labels);
}
