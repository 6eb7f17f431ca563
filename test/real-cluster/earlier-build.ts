import { join } from 'node:path';
import { mustRun } from '#test/support/run-program.ts';
import { findClusterPrograms } from './assets.ts';
import type { ReachedCluster } from './cluster-place.ts';
import type { Charts } from './install.ts';

const SCRIPT = join(import.meta.dirname, '../../hack/upgrade-assets');

/** What `hack/upgrade-assets` has built. Never builds, because a test that waits for a compiler seems to hang. */
export async function findEarlierBuild(): Promise<{ readonly image: string; readonly charts: Charts }> {
  const dir = (await mustRun(SCRIPT, '--no-build')).trim();
  return {
    image: join(dir, 'ipledger.tar'),
    charts: { chart: join(dir, 'chart'), crds: join(dir, 'chart-crds'), tag: 'earlier' },
  };
}

/** The archive has the name of the image in it. */
export async function importImage(cluster: ReachedCluster, archive: string): Promise<void> {
  const { dir } = await findClusterPrograms();
  for (const node of cluster.nodes)
    await cluster.runIn(node, `${join(dir, 'ctr')} --namespace=k8s.io images import ${archive}`);
}
