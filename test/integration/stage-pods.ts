import { DEPLOYMENTS, PODS, REPLICA_SETS } from '#pkg/kube/objects/core-resources.ts';
import { apiVersionOf, type KubeObject, type Resource } from '#pkg/kube/objects/kube-object.ts';
import type { Pod } from './pod-cluster.ts';
import { sure } from './spider-objects.ts';
import { NAMESPACE, type SubnetStage } from './subnet-stage.ts';

type Annotations = Readonly<Record<string, string>>;

interface PodWish {
  readonly name: string;
  readonly annotations: Annotations;
  readonly node?: string;
}

/** A pod as the controller of this owner creates it, bound to a node. */
export async function createPodOf(
  { admin }: Pick<SubnetStage, 'admin'>,
  [kind, owner]: readonly [Resource, KubeObject],
  { name, annotations, node = 'worker-1' }: PodWish,
): Promise<Pod> {
  const namespace = owner.metadata.namespace ?? NAMESPACE;
  const ownerReferences = [referenceTo(kind, owner)];
  const metadata = { name, namespace, labels: { app: 'x' }, annotations, ownerReferences };
  const spec = { nodeName: node, terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main' }] };
  const { uid } = (await sure(admin.create(PODS, { metadata, spec }))).metadata;
  return { namespace, name, uid };
}

export interface DeploymentAtWork {
  pod(node?: string): Promise<Pod>;
  pods(count: number): Promise<Pod[]>;
}

/** What kubectl and the controllers of Kubernetes make of a Deployment with this template; its pods are made one by one. */
export async function deployWithPods(
  stage: SubnetStage,
  name: string,
  replicas: number,
  annotations: Annotations,
): Promise<DeploymentAtWork> {
  const deployment = await stage.deploy(name, replicas, annotations);
  const ownerReferences = [referenceTo(DEPLOYMENTS, deployment)];
  const metadata = { name: `${name}-1`, namespace: NAMESPACE, ownerReferences };
  const set = await sure(stage.admin.create(REPLICA_SETS, { metadata, spec: deployment['spec'] }));
  let made = 0;
  const pod = (node?: string) => {
    made += 1;
    const wish = { name: `${name}-1-${made}`, annotations };
    return createPodOf(stage, [REPLICA_SETS, set], node === undefined ? wish : { ...wish, node });
  };
  return { pod, pods: (count) => Promise.all(Array.from({ length: count }, () => pod())) };
}

function referenceTo(kind: Resource, { metadata: { name, uid } }: KubeObject) {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, controller: true };
}
