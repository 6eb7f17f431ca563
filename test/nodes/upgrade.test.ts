import { expect, test } from 'vitest';
import { VERSION } from '#pkg/text/version.ts';
import { findEarlierBuild, importImage } from '#test/real-cluster/earlier-build.ts';
import { installIpledger, renewChart, untilRolledOut } from '#test/real-cluster/install.ts';
import { CRD_CHART, mustHelm } from '#test/support/helm.ts';
import { runningImages } from './daemon-images.ts';
import type { Pod } from './kube-calls.ts';
import { startOwnCluster } from './own-cluster.ts';
import { openStage } from './stage.ts';
import { until } from './until.ts';
import { deployment, statefulSet } from './workloads.ts';

const NODES = 2;

/** By uid: a pod that was replaced is another one. */
const byUid = (pods: readonly Pod[]) =>
  Object.fromEntries(pods.map(({ metadata, status }) => [metadata.uid, `${metadata.name} ${status.podIP}`]));

test('live pods keep their addresses through an upgrade from an earlier build, and through the way back', async () => {
  const earlier = await findEarlierBuild();
  await using cluster = await startOwnCluster(NODES);
  const { server } = cluster;
  await importImage(cluster, earlier.image);
  await installIpledger(server, NODES, earlier.charts);
  await using stage = await openStage('upgrade', ['10.88.60.1-10.88.60.30'], { cluster });
  const { kube, path } = stage;
  await kube.create(path('statefulsets'), statefulSet('db', 2));
  await kube.create(path('deployments'), deployment('web', 4));
  const first = byUid(await stage.running(6));
  expect(await runningImages(kube)).toEqual(['ipledger:earlier']);

  await mustHelm(server, 'upgrade', 'ipledger-crds', CRD_CHART);
  await renewChart(server, NODES);
  // These begin while agents of both builds are at work.
  await kube.patch(path('deployments', 'web'), { spec: { replicas: 8 } });
  await untilRolledOut(server);
  expect(await runningImages(kube)).toEqual([`ipledger:${VERSION}`]);
  const second = byUid(await stage.running(10));
  expect(second).toMatchObject(first);
  await stage.settle();

  // The new build takes over and gives back what the earlier one wrote.
  const [db] = (await stage.pods()).filter(({ metadata }) => metadata.name === 'db-0');
  await kube.remove(path('pods', 'db-0'));
  await until(
    'db-0 is a new pod',
    async () => (await kube.read(path('pods', 'db-0'))).metadata.uid !== db?.metadata.uid,
  );
  const third = byUid(await stage.running(10));
  expect(Object.values(third)).toContain(`db-0 ${db?.status.podIP}`);
  await stage.settle();

  await mustHelm(server, 'rollback', 'ipledger');
  await kube.patch(path('deployments', 'web'), { spec: { replicas: 10 } });
  await untilRolledOut(server);
  expect(await runningImages(kube)).toEqual(['ipledger:earlier']);
  expect(byUid(await stage.running(12))).toMatchObject(third);
  await stage.settle();
  // The earlier build gives back what the new one wrote.
  await kube.patch(path('deployments', 'web'), { spec: { replicas: 2 } });
  await stage.running(4);
  await until('no other address is held', async () => (await stage.records()).length === 4);
  await stage.settle();
});
