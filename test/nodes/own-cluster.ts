import { join } from 'node:path';
import { serveActs } from '#test/real-cluster/acts.ts';
import { type ReachedCluster, reachCluster } from '#test/real-cluster/cluster-place.ts';
import { type ClusterWish, startRealCluster } from '#test/real-cluster/real-cluster.ts';

/** Beside the one that all files share, for a test that needs other nodes or another start. Without ipledger. */
export async function startOwnCluster(
  nodeCount: number,
  wish: ClusterWish = {},
): Promise<ReachedCluster & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const real = stack.use(await startRealCluster(nodeCount, wish));
  const actsSocket = join(real.place.dir, 'acts.sock');
  stack.use(await serveActs(real, actsSocket));
  const nodes = real.nodes.map(({ plan }) => plan.name);
  const cluster = reachCluster({ owner: process.pid, server: real.place, nodes, actsSocket });
  const everything = stack.move();
  return { ...cluster, [Symbol.asyncDispose]: () => everything.disposeAsync() };
}
