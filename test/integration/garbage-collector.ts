import { join } from 'node:path';
import { findClusterPrograms } from '#test/real-cluster/assets.ts';
import { findFreePort } from '#test/support/api-ports.ts';
import { startServerProcess } from '#test/support/api-process.ts';
import type { LedgerCluster } from './ledger-cluster.ts';

/** The garbage collector of Kubernetes itself: it deletes what an owner leaves behind. */
export async function startGarbageCollector({ server }: LedgerCluster): Promise<AsyncDisposable> {
  const { dir, kubeconfigFile } = server;
  const port = await findFreePort();
  return startServerProcess({
    program: join((await findClusterPrograms()).dir, 'kube-controller-manager'),
    args: [
      `--kubeconfig=${kubeconfigFile}`,
      '--leader-elect=false',
      '--controllers=garbage-collector-controller',
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${dir}/collector`,
    ],
    port,
    logFile: join(dir, 'collector.log'),
    isReady: async () => true,
  });
}
