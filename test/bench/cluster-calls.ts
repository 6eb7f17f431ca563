import { setTimeout as sleep } from 'node:timers/promises';
import { addAll, delAll } from './cluster-adds.ts';
import { ClusterSite } from './cluster-site.ts';
import { type Line, printTable } from './report.ts';

const NODES = ['worker-1', 'worker-2', 'worker-3', 'worker-4'];
const PER_NODE = 100;
/** Enough ADDs for the second read of the pool by a node that started in an empty pool. */
const WARM_UP_PER_NODE = 40;
/** The API server counts a request shortly after its answer. */
const COUNTING_MS = 1_000;
/** Requests that do not belong to a call: the server's own ones, and watches. */
const OF_NO_CALL = /^(WATCH|CONNECT) | (leases|serviceaccounts|flowschemas|prioritylevelconfigurations|openapi\/v\d|)$/;

/** API calls of ADDs and DELs in the steady state, counted by the API server itself. */
export async function benchCalls(): Promise<void> {
  await using site = await ClusterSite.start(NODES);
  await site.createPool('bench', '10.1.0.0-10.1.255.255');
  const agents = await site.startAgents();
  await addAll(agents, await site.createPods(NODES, WARM_UP_PER_NODE), 'bench');
  const pods = await site.createPods(NODES, PER_NODE);
  const total = pods.flat().length;

  const added = await countCalls(site, async () => void (await addAll(agents, pods, 'bench')));
  await site.deletePods(pods.flat());
  const deleted = await countCalls(site, () => delAll(agents, pods));
  printTable(`API calls of ${total} ADDs and ${total} DELs, 4 agents (apiserver_request_total)`, [
    exactly('ADD', added, 'POST iprecords 201', total),
    exactly('DEL of a pod that is gone', deleted, 'DELETE iprecords 200', total),
  ]);
}

function exactly(what: string, calls: ReadonlyMap<string, number>, wanted: string, total: number): Line {
  const others = [...calls].filter(([call]) => call !== wanted).map(([call, count]) => `${count} × ${call}`);
  return {
    what,
    value: `${calls.get(wanted) ?? 0} × ${wanted}`,
    against: others.length === 0 ? 'nothing else' : others.join(', '),
    limit: `${total}, and nothing else`,
    isMet: calls.get(wanted) === total && others.length === 0,
  };
}

/** Verb, resource and code, and the number of requests since the last count. */
async function countCalls({ server }: ClusterSite, work: () => Promise<void>): Promise<Map<string, number>> {
  const before = readCalls(await server.metrics());
  await work();
  await sleep(COUNTING_MS);
  const after = readCalls(await server.metrics());
  const grown = [...after].map(([call, count]) => [call, count - (before.get(call) ?? 0)] as const);
  return new Map(grown.filter(([call, count]) => count > 0 && !OF_NO_CALL.test(call.replace(/ \d+$/, ''))));
}

export function readCalls(exposition: string): Map<string, number> {
  const calls = new Map<string, number>();
  for (const line of exposition.split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue;
    const label = (name: string) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? '';
    const resource = [label('resource'), label('subresource')].filter((it) => it !== '').join('/');
    const call = `${label('verb')} ${resource} ${label('code')}`;
    calls.set(call, (calls.get(call) ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1)));
  }
  return calls;
}
