import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterAgentProcess } from '#test/support/cluster-agent-process.ts';
import { addAll, addOne } from './cluster-adds.ts';
import { ClusterSite } from './cluster-site.ts';
import { createRecords } from './controller-site.ts';
import { printTable } from './report.ts';
import { Client } from './socket-load.ts';
import { median } from './statistics.ts';

const NODES = Array.from({ length: 16 }, (_, at) => `worker-${at + 1}`);
const PER_NODE = 15;
/** Addresses of a node without an agent, which come back one by one: with those of the nodes 250. */
const FREED = 10;
const MOST_CREATES = 4;
const PATIENT = 'exhaustedWaitSeconds: 600\n';
const TIMEOUT_MS = 600_000;
/** More than the longest pause before a create with 16 nodes, and the delay of the watch. */
const SETTLE_MS = 2_000;
const RECORDS = '/apis/ipledger.io/v1alpha1/iprecords';

/** A call on each of 16 nodes waits for the same full pool of 250 addresses: what one freed address costs the API server. */
export async function benchWaiters(): Promise<void> {
  await using site = await ClusterSite.start(NODES);
  await site.createPool('bench', '10.1.0.0-10.1.0.249');
  const elsewhere = Array.from({ length: FREED }, (_, at) => ({ name: `elsewhere-${at}`, uid: randomUUID() }));
  await createRecords(site, { net: 1, node: 'elsewhere', pool: 'bench' }, elsewhere);
  const agents = await site.startAgents(PATIENT);
  await addAll(agents, await site.createPods(NODES, PER_NODE), 'bench');

  const waiting = new Map<string, Promise<ClusterAgentProcess>>();
  const startWaiting = (agent: ClusterAgentProcess) => {
    const served = wait(site, agent);
    served.catch(() => {}); // the site ends before the last of them is served
    waiting.set(agent.node, served);
  };
  for (const agent of agents) startWaiting(agent);
  await untilWatched(site, NODES.length);
  const rounds: { readonly creates: number; readonly reads: number }[] = [];
  for (let round = 0; round < FREED; round += 1) {
    const before = await countRequests(site);
    await site.remove(`${RECORDS}/10.1.0.${round}`);
    const served = await Promise.race(waiting.values());
    await sleep(SETTLE_MS);
    const after = await countRequests(site);
    rounds.push({ creates: after.creates - before.creates, reads: after.reads - before.reads });
    startWaiting(served);
    await untilWatched(site, NODES.length);
  }
  const creates = rounds.map((round) => round.creates);
  const reads = rounds.map((round) => round.reads);
  printTable('One freed address in a full pool of 250, a waiting call on each of 16 nodes; 10 times', [
    {
      what: 'creates',
      value: `${creates.join(', ')} (median ${median(creates)})`,
      against: 'were 16',
      limit: `at most ${MOST_CREATES}`,
      isMet: Math.max(...creates) <= MOST_CREATES,
    },
    {
      what: 'lists and gets of records',
      value: reads.join(', '),
      against: 'were 31',
      limit: 'none',
      isMet: Math.max(...reads) === 0,
    },
  ]);
}

/** Resolves when its pod has an address. */
async function wait(site: ClusterSite, agent: ClusterAgentProcess): Promise<ClusterAgentProcess> {
  const [[pod] = []] = await site.createPods([agent.node], 1);
  if (pod === undefined) throw new Error('no pod was made');
  const client = new Client(agent.socket);
  await addOne(client, pod, 'bench', TIMEOUT_MS);
  client.close();
  return agent;
}

/** While a call waits, its agent watches the records of the pool. */
async function untilWatched({ server }: ClusterSite, count: number): Promise<void> {
  const watched = /^apiserver_longrunning_requests\{[^}]*resource="iprecords"[^}]*verb="WATCH"[^}]*\} (\d+)$/m;
  while (Number(watched.exec(await server.metrics())?.[1]) < count) await sleep(50);
  await sleep(SETTLE_MS);
}

async function countRequests({ server }: ClusterSite): Promise<{ readonly creates: number; readonly reads: number }> {
  const count = (verb: string) => server.requestCount({ resource: 'iprecords', verb });
  return { creates: await count('POST'), reads: (await count('LIST')) + (await count('GET')) };
}
