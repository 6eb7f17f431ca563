import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApiServer } from '#test/support/api-server.ts';

/** etcd and kube-apiserver for hack/local-cluster: `admin.kubeconfig` appears in the directory when they are ready. */
const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('expected the directory of the local cluster');

const starter = process.ppid;
let isOver = false;
const stop = () => {
  isOver = true;
};
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);

await using server = await startApiServer();
// Renamed when it is complete: the script waits for this name.
await copyFile(server.kubeconfigFile, join(directory, 'admin.kubeconfig.new'));
await rename(join(directory, 'admin.kubeconfig.new'), join(directory, 'admin.kubeconfig'));
// A script that was killed sends no signal.
while (!isOver && process.ppid === starter) await sleep(200);
