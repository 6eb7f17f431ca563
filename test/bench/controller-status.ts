import { setTimeout as sleep } from 'node:timers/promises';
import { callApi } from '#test/support/api-request.ts';
import { addAll } from './cluster-adds.ts';
import { readCalls } from './cluster-calls.ts';
import { ClusterSite } from './cluster-site.ts';
import { startController } from './controller-site.ts';
import { stallLine, WITH_STALLS } from './controller-stalls.ts';
import { printTable } from './report.ts';

const ADDS = 1_000;
const MOST_PER_SECOND = 2;
const POOL = '/apis/spiderpool.spidernet.io/v2beta1/spiderippools/bench';

/** How often the status of a pool is written while 1,000 addresses of it are taken. */
export async function benchStatusWrites(): Promise<void> {
  const nodes = ['worker-1', 'worker-2'];
  await using site = await ClusterSite.start(nodes);
  await site.createPool('bench', '10.1.0.0-10.1.255.255');
  const agents = await site.startAgents();
  const pods = await site.createPods(nodes, ADDS / nodes.length);
  await using controller = await startController(site, WITH_STALLS);
  while ((await allocatedIn(site)) !== 0) await sleep(100);
  const writes = async () => readCalls(await site.server.metrics()).get('PUT spiderippools/status 200') ?? 0;
  const before = await writes();
  const startedMs = performance.now();
  const { seconds } = await addAll(agents, pods, 'bench');
  while ((await allocatedIn(site)) !== ADDS) await sleep(100);
  const shownSeconds = (performance.now() - startedMs) / 1_000;
  const count = (await writes()) - before;
  // One more write may happen at each end of the measured time.
  const perSecond = count / Math.max(1, shownSeconds);
  printTable(`Pool status in a burst of ${ADDS} ADDs in ${seconds.toFixed(1)} s`, [
    {
      what: 'status writes of the pool',
      value: `${count} in ${shownSeconds.toFixed(1)} s, ${perSecond.toFixed(2)} a second`,
      limit: `at most ${MOST_PER_SECOND} a second`,
      isMet: perSecond <= MOST_PER_SECOND,
    },
    { what: 'shown after the last ADD', value: `${(shownSeconds - seconds).toFixed(1)} s` },
    await stallLine(controller),
  ]);
}

async function allocatedIn({ server }: ClusterSite): Promise<number | undefined> {
  const { body } = await callApi(server, { path: POOL, token: server.adminToken });
  return (body as { status?: { allocatedIPCount?: number } }).status?.allocatedIPCount;
}
