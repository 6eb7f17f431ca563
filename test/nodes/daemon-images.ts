import { join } from 'node:path';
import { findClusterPrograms } from '#test/real-cluster/assets.ts';
import type { ReachedCluster } from '#test/real-cluster/cluster-place.ts';
import type { KubeCalls, Pod } from './kube-calls.ts';
import { until } from './until.ts';

const DAEMONS = '/api/v1/namespaces/ipledger/pods?labelSelector=app.kubernetes.io/component';
const IMAGE = 'docker.io/library/ipledger';

/** The same image under another name, so that kubelet starts what it takes for another build. */
export async function tagImage(cluster: ReachedCluster, from: string, to: string): Promise<void> {
  const ctr = join((await findClusterPrograms()).dir, 'ctr');
  for (const node of cluster.nodes)
    await cluster.runIn(node, `${ctr} --namespace=k8s.io images tag --force ${IMAGE}:${from} ${IMAGE}:${to}`);
}

/** Of the pods of a component, or of all agents and controllers: each image once, when the old pods are gone. */
export async function runningImages(kube: KubeCalls, component?: 'agent' | 'controller'): Promise<readonly string[]> {
  type DaemonPod = Pod & { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  const path = component === undefined ? DAEMONS : `${DAEMONS}=${component}`;
  return await until('the old pods are gone', async () => {
    const pods = await kube.list<DaemonPod>(path);
    if (pods.some(({ metadata }) => metadata.deletionTimestamp !== undefined)) return null;
    return [...new Set(pods.flatMap(({ spec }) => spec.containers.map(({ image }) => image)))];
  });
}
