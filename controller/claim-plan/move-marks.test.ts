import { expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { lacksMoveMark, lacksOwnMoveMark, ownersToMove } from './move-marks.ts';

const MARKED = { 'clusterctl.cluster.x-k8s.io/move-hierarchy': '' };
const object = (metadata: object) =>
  ({ metadata: { name: 'lab', uid: 'u', resourceVersion: '1', ...metadata } }) as unknown as KubeObject;
const subnetOwner = { apiVersion: 'spiderpool.spidernet.io/v2beta1', kind: 'SpiderSubnet', name: 'net', uid: 's' };

test.each([
  { name: 'with IPAddresses', metadata: {}, hasAddresses: true, lacks: true },
  { name: 'of pods alone', metadata: {}, hasAddresses: false, lacks: false },
  {
    name: 'with the cluster name as a label, as the contract has it',
    metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'blue' } },
    hasAddresses: false,
    lacks: true,
  },
  { name: 'with the mark', metadata: { labels: MARKED }, hasAddresses: true, lacks: false },
  { name: 'that is being deleted', metadata: { deletionTimestamp: 'now' }, hasAddresses: true, lacks: false },
])('a pool $name: lacks the mark for clusterctl move: $lacks', ({ metadata, hasAddresses, lacks }) => {
  expect(lacksMoveMark(object(metadata), hasAddresses)).toBe(lacks);
});

test('the subnet of a pool that moves has to move too, and nobody else of its owners', () => {
  const ownerReferences = [subnetOwner, { ...subnetOwner, kind: 'Other', name: 'other' }, 'nonsense'];
  expect(ownersToMove(object({ labels: MARKED, ownerReferences }))).toEqual(['net']);
  expect(ownersToMove(object({ ownerReferences }))).toEqual([]);
  expect(ownersToMove(object({ labels: MARKED }))).toEqual([]);
});

test.each([
  { labels: {}, lacks: true },
  { labels: MARKED, lacks: false },
  { labels: { 'clusterctl.cluster.x-k8s.io/move': '' }, lacks: false },
])('a subnet with $labels lacks its mark: $lacks', ({ labels, lacks }) => {
  expect(lacksOwnMoveMark(object({ labels }))).toBe(lacks);
});
