import { expect, test } from 'vitest';
import { installIpledger } from '#test/real-cluster/install.ts';
import { findDebianPrograms } from '#test/support/debian-programs.ts';
import { startOwnCluster } from './own-cluster.ts';
import { openStage } from './stage.ts';
import { deployment } from './workloads.ts';

test("pods get their addresses and give them back on a node with Debian's containerd 1, which speaks CNI 1.0", async () => {
  await using cluster = await startOwnCluster(1, { containerd1: await findDebianPrograms() });
  await installIpledger(cluster.server, 1);

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
