import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serveActs } from '#test/real-cluster/acts.ts';
import { reachCluster } from '#test/real-cluster/cluster-place.ts';
import { installIpledger } from '#test/real-cluster/install.ts';
import { startRealCluster } from '#test/real-cluster/real-cluster.ts';
import { findDebianPrograms } from '#test/support/debian-programs.ts';
import { openStage } from './stage.ts';
import { deployment } from './workloads.ts';

test("pods get their addresses and give them back on a node with Debian's containerd 1, which speaks CNI 1.0", async () => {
  await using real = await startRealCluster(1, { containerd1: await findDebianPrograms() });
  const actsSocket = join(real.place.dir, 'acts.sock');
  await using _ = await serveActs(real, actsSocket);
  await installIpledger(real.place, 1);
  const cluster = reachCluster({ owner: process.pid, server: real.place, nodes: ['n1'], actsSocket });

  await using stage = await openStage('old', ['10.88.50.1-10.88.50.10'], { cluster });
  const node = await stage.kube.read<Node>('/api/v1/nodes/n1');
  expect(node.status.nodeInfo.containerRuntimeVersion).toMatch(/^containerd:\/\/1\./);
  await stage.kube.create(stage.path('deployments'), deployment('web', 10));
  const pods = await stage.running(10);
  expect(new Set(pods.map(({ status }) => status.podIP)).size).toBe(10);
  await stage.settle();
});

interface Node {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly status: { readonly nodeInfo: { readonly containerRuntimeVersion: string } };
}
