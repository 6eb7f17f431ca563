import { setTimeout as sleep } from 'node:timers/promises';
import { addAll, delAll } from './cluster-adds.ts';
import { readCalls } from './cluster-calls.ts';
import { ClusterSite } from './cluster-site.ts';
import { countObjects, keepNodeWell, startController } from './controller-site.ts';
import { stallLine, WITH_STALLS } from './controller-stalls.ts';
import { printTable } from './report.ts';

const NODES = ['worker-1', 'worker-2'];
const PER_NODE = 200;
const ENDPOINTS = '/apis/spiderpool.spidernet.io/v2beta1/spiderendpoints';
const PER_POD = 2;
const GRACE_SECONDS = 600;
const ENDPOINT_CALL = / spiderendpoints /;
/** Of the pool's status there is one write in a second, whatever the number of pods. */
const OTHER_CALL = /^(PUT|PATCH|POST|DELETE|GET) (iprecords|pods|nodes|statefulsets) /;

/** Requests of the controller in the life of a pod, counted by the API server: from the ADD to the end of the endpoint. */
export async function benchControllerCalls(): Promise<void> {
  await using site = await ClusterSite.start(NODES);
  await site.createPool('bench', '10.1.0.0-10.1.255.255');
  const agents = await site.startAgents();
  await using stack = new AsyncDisposableStack();
  for (const name of NODES) stack.use(await keepNodeWell(site, name));
  await using controller = await startController(site, WITH_STALLS);
  const pods = await site.createPods(NODES, PER_NODE);
  const total = pods.flat().length;
  const before = readCalls(await site.server.metrics());
  await addAll(agents, pods, 'bench');
  while ((await countObjects(site, ENDPOINTS)) < total) await sleep(100);
  // As kubelet does it: the object goes after the sandbox.
  await site.deletePods(pods.flat(), GRACE_SECONDS);
  await delAll(agents, pods);
  await site.deletePods(pods.flat());
  while ((await countObjects(site, ENDPOINTS)) > 0) await sleep(100);
  await sleep(1_000);
  const after = readCalls(await site.server.metrics());

  const grown = [...after].map(([call, count]) => [call, count - (before.get(call) ?? 0)] as const);
  const ofPods = grown
    .filter(([call, count]) => count > 0 && (ENDPOINT_CALL.test(call) || OTHER_CALL.test(call)))
    // The looks of this benchmark, its own deletes, and the calls of the agents.
    .filter(([call]) => !call.startsWith('LIST') && !/^(POST|DELETE) (iprecords|pods) 20\d$/.test(call));
  const perPod = ofPods.reduce((sum, [, count]) => sum + count, 0) / total;
  printTable(`Requests of the controller for ${total} pods that come and go`, [
    {
      what: 'for each pod',
      value: `${perPod.toFixed(2)}: ${ofPods.map(([call, count]) => `${count} × ${call}`).join(', ')}`,
      against: 'were 3.1',
      limit: `at most ${PER_POD}`,
      isMet: perPod <= PER_POD,
    },
    await stallLine(controller),
  ]);
}
