import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serveActs } from '#test/real-cluster/acts.ts';
import type { ClusterPlace } from '#test/real-cluster/cluster-place.ts';
import { installIpledger } from '#test/real-cluster/install.ts';
import { removeLeftovers } from '#test/real-cluster/leftovers.ts';
import { startRealCluster } from '#test/real-cluster/real-cluster.ts';

/** The process that owns a cluster of real nodes, for hack/cluster and for the tests. The cluster lives as long as this process. */
const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '3' },
    /** Written when the cluster is ready: how to reach it. */
    place: { type: 'string' },
    /** Ends when standard input does, so that no owner can forget it. */
    'with-stdin': { type: 'boolean', default: false },
    /** Only removes what killed runs left. */
    sweep: { type: 'boolean', default: false },
  },
});

if (values.sweep) await removeLeftovers();
else await own(Number(values.nodes), values.place);
await endChildren();
// A handle that is still open must not keep it.
process.exit();

async function own(nodeCount: number, placeFile: string | undefined): Promise<void> {
  const over = Promise.withResolvers<void>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => over.resolve());
  if (values['with-stdin']) process.stdin.resume().once('close', () => over.resolve());

  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  // An interrupt during the start is obeyed as soon as there is something to take down.
  await using cluster = await startRealCluster(nodeCount);
  console.error(`nodes started after ${seconds()}`);
  await using stack = new AsyncDisposableStack();
  const actsSocket = join(cluster.place.dir, 'acts.sock');
  stack.use(await serveActs(cluster, actsSocket));
  const ready = installIpledger(cluster.place, nodeCount);
  await Promise.race([ready, over.promise]);
  console.error(`ready after ${seconds()}`);
  const { url, caFile, adminToken, kubeconfigFile, dir } = cluster.place;
  const place: ClusterPlace = {
    owner: process.pid,
    server: { url, caFile, adminToken, kubeconfigFile, dir },
    nodes: cluster.nodes.map(({ plan }) => plan.name),
    actsSocket,
  };
  if (placeFile !== undefined) {
    // Renamed when it is complete: others wait for this name.
    await writeFile(`${placeFile}.new`, JSON.stringify(place));
    await rename(`${placeFile}.new`, placeFile);
  }
  await over.promise;
  console.error(`ending after ${seconds()}`);
}

/** What an interrupted installation still runs: kubectl would wait on for minutes. */
async function endChildren(): Promise<void> {
  const children = await readFile(`/proc/self/task/${process.pid}/children`, 'utf8');
  for (const pid of children.split(' ').filter((word) => word !== '')) process.kill(Number(pid), 'SIGKILL');
}
