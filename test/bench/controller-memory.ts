import { setTimeout as sleep } from 'node:timers/promises';
import { readRssMb } from './agent-bench.ts';
import { ClusterSite } from './cluster-site.ts';
import { countObjects, createRecords, startController } from './controller-site.ts';
import { stallLine, WITH_STALLS } from './controller-stalls.ts';
import { printTable } from './report.ts';

const COUNT = 10_000;
const NODES = 10;
const LIMIT_MB = 300;
const ENDPOINTS = '/apis/spiderpool.spidernet.io/v2beta1/spiderendpoints';

/** VmRSS of the leader, 5 s after its projections are complete. */
export async function benchControllerMemory(): Promise<void> {
  const names = Array.from({ length: NODES }, (_, at) => `worker-${at}`);
  await using site = await ClusterSite.start(names.slice(0, 1));
  await site.createPool('bench', '10.10.0.0-10.19.255.255');
  const pods = await site.createPods(names, COUNT / NODES);
  for (const [at, node] of names.entries()) {
    await createRecords(site, { net: 10 + at, node, pool: 'bench' }, pods[at] ?? []);
  }
  await using controller = await startController(site, WITH_STALLS);
  const startedMs = performance.now();
  let highest = 0;
  while ((await countObjects(site, ENDPOINTS)) < COUNT) {
    highest = Math.max(highest, readRssMb(controller));
    await sleep(500);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  await sleep(5_000);
  const rss = readRssMb(controller);
  printTable(`Controller memory, ${COUNT} pods, records and endpoints`, [
    {
      what: 'RSS of the leader, 5 s after',
      value: `${rss.toFixed(0)} MB (at most ${highest.toFixed(0)} MB meanwhile)`,
      limit: `under ${LIMIT_MB} MB`,
      isMet: rss < LIMIT_MB,
    },
    { what: 'from its start until every endpoint is there', value: `${seconds.toFixed(0)} s` },
    await stallLine(controller),
  ]);
}
