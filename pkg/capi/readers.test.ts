import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foreignFinalizers } from '#pkg/kube/objects/foreign-finalizers.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { readClaim } from './read-claim.ts';
import { hasPauseMark, isPausedCluster } from './read-cluster.ts';
import { readIpAddress } from './read-ip-address.ts';

const META = { namespace: 'prod', name: 'vm-0', uid: 'u', resourceVersion: '1' };
const OURS = { apiGroup: 'spiderpool.spidernet.io', kind: 'SpiderIPPool', name: 'lab' };
const object = (spec: unknown, metadata = {}, status?: unknown) =>
  ({ metadata: { ...META, ...metadata }, spec, status }) as unknown as KubeObject;

test.each([
  { name: 'ours', poolRef: OURS, pool: 'lab' },
  { name: 'a foreign group', poolRef: { ...OURS, apiGroup: 'ipam.cluster.x-k8s.io' }, pool: undefined },
  { name: 'an empty group', poolRef: { ...OURS, apiGroup: '' }, pool: undefined },
  { name: 'no group', poolRef: { kind: 'SpiderIPPool', name: 'lab' }, pool: undefined },
  { name: 'an unknown kind', poolRef: { ...OURS, kind: 'SpiderSubnet' }, pool: undefined },
  { name: 'another case', poolRef: { ...OURS, kind: 'spiderippool' }, pool: undefined },
  { name: 'no name', poolRef: { ...OURS, name: '' }, pool: undefined },
  { name: 'a list', poolRef: [OURS], pool: undefined },
  { name: 'nothing', poolRef: undefined, pool: undefined },
])('a claim whose poolRef is $name', ({ poolRef, pool }) => {
  expect(readClaim(object({ poolRef }))?.pool).toBe(pool);
});

test.each([
  {
    name: 'spec.clusterName',
    spec: { clusterName: 'blue' },
    labels: { 'cluster.x-k8s.io/cluster-name': 'red' },
    cluster: 'blue',
  },
  { name: 'the label', spec: {}, labels: { 'cluster.x-k8s.io/cluster-name': 'red' }, cluster: 'red' },
  { name: 'neither', spec: {}, labels: {}, cluster: null },
  { name: 'a number', spec: { clusterName: 5 }, labels: {}, cluster: null },
])('the cluster of a claim comes from $name', ({ spec, labels, cluster }) => {
  expect(readClaim(object({ ...spec, poolRef: OURS }, { labels }))?.cluster).toBe(cluster);
});

test('a claim is paused and moved away by its annotations, with any value', () => {
  const annotations = { 'cluster.x-k8s.io/paused': '', 'clusterctl.cluster.x-k8s.io/delete-for-move': '' };
  expect(readClaim(object({ poolRef: OURS }, { annotations }))).toMatchObject({ isPaused: true, isMovedAway: true });
  expect(readClaim(object({ poolRef: OURS }))).toMatchObject({ isPaused: false, isMovedAway: false });
});

test.each([
  { name: 'spec.paused true', spec: { paused: true }, annotations: {}, isPaused: true },
  { name: 'spec.paused false', spec: { paused: false }, annotations: {}, isPaused: false },
  { name: 'spec.paused as text', spec: { paused: 'true' }, annotations: {}, isPaused: false },
  { name: 'the annotation without a value', spec: {}, annotations: { 'cluster.x-k8s.io/paused': '' }, isPaused: true },
  {
    name: 'the annotation that says false',
    spec: {},
    annotations: { 'cluster.x-k8s.io/paused': 'false' },
    isPaused: true,
  },
  { name: 'nothing', spec: undefined, annotations: {}, isPaused: false },
])('a cluster with $name', ({ spec, annotations, isPaused }) => {
  expect(isPausedCluster(object(spec, { annotations }))).toBe(isPaused);
});

test('an IPAddress names its claim by the controlling reference alone, of any version of the group', () => {
  const owner = { kind: 'IPAddressClaim', name: 'vm-0', uid: 'c', controller: true };
  const read = (reference: object) => readIpAddress(object({}, { ownerReferences: [reference] }))?.claimUid;
  expect(read({ ...owner, apiVersion: 'ipam.cluster.x-k8s.io/v1beta1' })).toBe('c');
  expect(read({ ...owner, apiVersion: 'ipam.cluster.x-k8s.io/v1beta2', controller: false })).toBeNull();
  expect(read({ ...owner, apiVersion: 'other.io/v1' })).toBeNull();
});

test('an address that is none, too long or mapped is read as what it is', () => {
  const read = (address: unknown) => readIpAddress(object({ address }))?.address;
  expect(read('10.0.0.300')).toBeNull();
  expect(read('::ffff:10.0.0.1')).toEqual({ family: 4, value: 0x0a000001n });
  expect(read(`${'0:'.repeat(7)}1%${'e'.repeat(40)}`)).toBeNull();
  expect(read(7)).toBeNull();
});

test('the garbage collector is nobody that uses an address', () => {
  expect(foreignFinalizers(['own', 'foregroundDeletion', 'orphan', 'infra/in-use'], 'own')).toEqual(['infra/in-use']);
});

test('whatever is stored, reading it does not throw', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), fc.anything(), (spec, status, ownerReferences) => {
      const hostile = object(spec, { ownerReferences }, status);
      readClaim(hostile);
      readIpAddress(hostile);
      isPausedCluster(hostile);
      hasPauseMark(hostile);
    }),
  );
});
