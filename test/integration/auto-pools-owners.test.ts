import { beforeAll, expect, test, vi } from 'vitest';
import { newPoolObject } from '#controller/subnets/pool-object.ts';
import { decodeSpiderSubnet } from '#pkg/crd/decode-spider-subnet.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { PODS } from '#pkg/kube/objects/core-resources.ts';
import { apiVersionOf, type Resource } from '#pkg/kube/objects/kube-object.ts';
import { type Failure, failure } from '#pkg/kube/objects/outcome.ts';
import { POOLS, SUBNETS } from '#pkg/kube/objects/spider-resources.ts';
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

test('an application of another kind is scaled to zero and up again, also while no controller runs: its pool follows', async () => {
  await stage.subnet('swung', { subnet: '10.5.0.0/24', ips: ['10.5.0.10-10.5.0.19'] });
  await fillRole('clonesets', 'clonesets/scale');
  const metadata = { name: 'swung', namespace: NAMESPACE };
  const template = { metadata: { annotations: asks('swung') } };
  const made = await sure(stage.admin.create(CLONE_SETS, { metadata, spec: { replicas: 3, template } }));
  const scaleTo = (replicas: number) => sure(stage.admin.patch(CLONE_SETS, metadata, { spec: { replicas } }));
  const owner = { apiVersion: 'kruise.test/v1', kind: 'CloneSet', name: 'swung', uid: made.metadata.uid };
  const pod = {
    metadata: { ...metadata, annotations: asks('swung'), ownerReferences: [{ ...owner, controller: true }] },
  };
  const spec = { containers: [{ name: 'main', image: 'main' }], terminationGracePeriodSeconds: 0 };
  const { uid } = (await sure(stage.admin.create(PODS, { ...pod, spec }))).metadata;
  {
    await using _ = await lead(stage);
    await stage.poolWith('swung', 3);
    await sure(stage.admin.delete(PODS, { ...metadata, uid }));
    await scaleTo(0);
    await stage.poolWith('swung', 0);
    await scaleTo(2);
    await stage.poolWith('swung', 2);
  }
  await scaleTo(1);
  await using _ = await lead(stage); // it has never seen a pod of it
  await stage.poolWith('swung', 1);
  await sure(stage.admin.delete(CLONE_SETS, { ...metadata, uid: made.metadata.uid }));
  await vi.waitFor(async () => expect(await stage.poolsOf('swung')).toEqual([]), PATIENCE);
}, 180_000);

test('100 pools of applications that do not answer: a new application has its pool meanwhile, and few reads are made', async () => {
  const object = await stage.subnet('beside', { subnet: '10.6.0.0/24', ips: ['10.6.0.10-10.6.0.199'] });
  const subnet = decodeSpiderSubnet({ ...object, apiVersion: apiVersionOf(SUBNETS), kind: SUBNETS.kind });
  const makeGhost = (at: number) => {
    const application = {
      apiVersion: 'ghosts.test/v1',
      kind: 'Ghost',
      namespace: NAMESPACE,
      name: `g-${at}`,
      uid: `u-${at}`,
    };
    const key = { subnet: 'beside', application, interface: 'eth0', family: 4 } as const;
    const wanted = { key, count: 1, number: { kind: 'fixed', count: 1 }, reclaim: true } as const;
    const addresses = IntervalSet.of([parseRange(`10.6.0.${10 + at}`)]);
    return sure(stage.admin.create(POOLS, newPoolObject(`ghost-${at}`, wanted, addresses, { subnet, object })));
  };
  for (let at = 0; at < 100; at += 10) await Promise.all(Array.from({ length: 10 }, (_, more) => makeGhost(at + more)));
  const answer = Promise.withResolvers<Failure>();
  let reads = 0;
  const real = stage.cluster.controller();
  const kindsOf: typeof real.kindsOf = (kind, options) => {
    if (kind.group !== 'ghosts.test') return real.kindsOf(kind, options);
    reads += 1;
    return answer.promise;
  };
  const client = new Proxy(real, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key === 'kindsOf') return kindsOf;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await using _ = await lead(stage, { client });
  const giveUp = () => answer.resolve(failure('Unknown', 'no answer'));
  using __ = { [Symbol.dispose]: giveUp };
  await stage.deploy('beside', 3, asks('beside'));
  await stage.poolWith('beside', 3);
  expect(reads).toBe(1);
  giveUp();
  for (const replicas of [4, 5, 6, 7]) {
    await stage.scale('beside', replicas);
    await stage.poolWith('beside', replicas);
  }
  expect(reads).toBe(1);
  expect((await stage.pools()).filter(({ metadata }) => metadata.name.startsWith('ghost-'))).toHaveLength(100);
}, 180_000);
