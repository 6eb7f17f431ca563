import { beforeAll, expect, test, vi } from 'vitest';
import { PODS } from '#pkg/kube/objects/core-resources.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import { waitUntilServed } from '#test/support/manifests.ts';
import { sure } from './spider-objects.ts';
import { asks, lead, NAMESPACE, PATIENCE, type SubnetStage, startSubnetStage } from './subnet-stage.ts';

const CLONE_SETS: Resource = { group: 'kruise.test', version: 'v1', plural: 'clonesets', kind: 'CloneSet' };
const CRDS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
};
const ROLES: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
};
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
const CRD = {
  metadata: { name: 'clonesets.kruise.test' },
  spec: {
    group: 'kruise.test',
    names: { plural: 'clonesets', singular: 'cloneset', kind: 'CloneSet' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {}, scale }, schema }],
  },
};

let stage: SubnetStage;

beforeAll(async () => {
  stage = await startSubnetStage();
  await sure(stage.admin.create(CRDS, CRD));
  await waitUntilServed(stage.cluster.server, '/apis/kruise.test/v1/clonesets');
  return () => stage[Symbol.asyncDispose]();
});

/** What the controller manager does with a ClusterRole that has the label; none runs here. */
async function fillRole(...resources: string[]): Promise<void> {
  const { metadata, ...role } = await sure(stage.admin.get(ROLES, { name: 'ipledger-controller-applications' }));
  expect(role['aggregationRule']).toEqual({
    clusterRoleSelectors: [{ matchLabels: { 'ipledger.io/aggregate-to-controller': 'true' } }],
  });
  const rules = [{ apiGroups: ['kruise.test'], resources, verbs: ['get'] }];
  await sure(stage.admin.patch(ROLES, { name: metadata.name }, { rules }));
}

test('an application of another kind gets its pool once the controller may read it, and an Event says so before', async () => {
  await stage.subnet('clones', { subnet: '10.4.0.0/24', ips: ['10.4.0.10-10.4.0.19'] });
  await using led = await lead(stage);
  const metadata = { name: 'clone', namespace: NAMESPACE };
  const made = await sure(stage.admin.create(CLONE_SETS, { metadata, spec: { replicas: 3 } }));
  const owner = {
    apiVersion: 'kruise.test/v1',
    kind: 'CloneSet',
    name: 'clone',
    uid: made.metadata.uid,
    controller: true,
  };
  const pod = { metadata: { ...metadata, annotations: asks('clones'), ownerReferences: [owner] } };
  await sure(stage.admin.create(PODS, { ...pod, spec: { containers: [{ name: 'main', image: 'main' }] } }));
  const notes = () => led.told.filter(({ reason }) => reason === 'ApplicationNotRead').map(({ note }) => note);
  await vi.waitFor(
    () => expect(notes().join()).toContain('needs the right to get clonesets in the API group kruise.test'),
    PATIENCE,
  );
  expect(await stage.poolsOf('clone')).toEqual([]);

  await fillRole('clonesets');
  await vi.waitFor(() => expect(notes().join()).toContain('needs the right to get clonesets/scale'), PATIENCE);
  expect(led.told.filter(({ reason }) => reason === 'BadSubnetAnnotation')).toEqual([]);

  await fillRole('clonesets', 'clonesets/scale');
  await stage.poolWith('clone', 3);
}, 180_000);
