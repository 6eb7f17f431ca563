import { describe, expect, test } from 'vitest';
import { buildPod } from '#test/support/build-pod.ts';
import { decodePod } from './decode-pod.ts';

const DELETED = { deletionTimestamp: '2026-11-16T10:00:00Z' };

describe('alive is, as Spiderpool has it', () => {
  test.each<{ name: string; pod: Parameters<typeof buildPod>[1]; dead: string | null }>([
    { name: 'a running pod', pod: {}, dead: null },
    { name: 'a pending pod', pod: { status: { phase: 'Pending' } }, dead: null },
    { name: 'a pod without a status', pod: { status: { phase: undefined } }, dead: null },
    { name: 'not one that is being deleted', pod: { metadata: DELETED }, dead: 'it is being deleted' },
    { name: 'one that succeeded and always restarts', pod: { status: { phase: 'Succeeded' } }, dead: null },
    {
      name: 'not one that succeeded and restarts on failure',
      pod: { status: { phase: 'Succeeded' }, spec: { restartPolicy: 'OnFailure' } },
      dead: 'it has succeeded and its restartPolicy is OnFailure',
    },
    {
      name: 'not one that succeeded and never restarts',
      pod: { status: { phase: 'Succeeded' }, spec: { restartPolicy: 'Never' } },
      dead: 'it has succeeded and its restartPolicy is Never',
    },
    {
      name: 'not one that failed and never restarts',
      pod: { status: { phase: 'Failed' }, spec: { restartPolicy: 'Never' } },
      dead: 'it has failed and its restartPolicy is Never',
    },
    {
      name: 'one that failed and restarts on failure',
      pod: { status: { phase: 'Failed' }, spec: { restartPolicy: 'OnFailure' } },
      dead: null,
    },
    {
      name: 'not one that was evicted',
      pod: { status: { phase: 'Failed', reason: 'Evicted' } },
      dead: 'it was evicted',
    },
  ])('$name', ({ pod, dead }) => {
    const { facts } = decodePod(buildPod(1, pod));
    expect([facts.isAlive, facts.endedBecause ?? null]).toEqual([dead === null, dead]);
  });
});

test('a mirror pod goes by the UID of the static pod behind it', () => {
  const annotations = { 'kubernetes.io/config.mirror': 'static-1' };
  const { facts, objectUid } = decodePod(buildPod(1, { metadata: { annotations } }));
  expect([facts.uid, objectUid]).toEqual(['static-1', 'u1']);
});

test('what the rules read is kept, the rest is dropped', () => {
  const kept = {
    'ipam.spidernet.io/ippool': '{}',
    'v1.multus-cni.io/default-network': 'a',
    'k8s.v1.cni.cncf.io/networks': 'b',
    'kubevirt.io/migrationJobName': 'm',
  };
  const annotations = { ...kept, 'kubectl.kubernetes.io/last-applied-configuration': 'x'.repeat(1000) };
  const labels = { app: 'web' };
  const pod = buildPod(7, {
    metadata: { labels, annotations },
    status: { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] },
  });
  expect(decodePod(pod).facts).toEqual({
    namespace: 'prod',
    name: 'web',
    uid: 'u1',
    resourceVersion: '7',
    node: 'worker-1',
    labels,
    annotations: kept,
    controller: null,
    isAlive: true,
    podIPs: ['10.0.0.1', 'fd00::1'],
  });
});

test('the controller is the owner that is marked as such', () => {
  const owner = (name: string, more = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name,
    uid: `uid-${name}`,
    ...more,
  });
  const ownerReferences = [
    owner('a'),
    owner('b', { controller: true, blockOwnerDeletion: true }),
    owner('c', { controller: false }),
  ];
  expect(decodePod(buildPod(1, { metadata: { ownerReferences } })).facts.controller).toEqual(owner('b'));
  expect(decodePod(buildPod(1, { metadata: { ownerReferences: [owner('a')] } })).facts.controller).toBeNull();
});

test.each<{ name: string; pod: Parameters<typeof buildPod>[1]; fault: string }>([
  { name: 'a node that is no text', pod: { spec: { nodeName: 7 } }, fault: 'spec.nodeName: expected a string' },
  { name: 'a phase that is no text', pod: { status: { phase: {} } }, fault: 'status.phase: expected a string' },
  { name: 'addresses that are no list', pod: { status: { podIPs: 'x' } }, fault: 'status.podIPs: expected a list' },
  {
    name: 'owners that are no objects',
    pod: { metadata: { ownerReferences: [7] } },
    fault: 'metadata.ownerReferences[0]: expected an object',
  },
  {
    name: 'a controller without a name',
    pod: { metadata: { ownerReferences: [{ controller: true, apiVersion: 'v1', kind: 'x', uid: 'y' }] } },
    fault: 'metadata.ownerReferences[0].name: expected a string',
  },
  {
    name: 'a thousand and one owners',
    pod: { metadata: { ownerReferences: Array.from({ length: 1001 }, () => ({})) } },
    fault: 'has 1001 items',
  },
])('a pod is refused for $name', ({ pod, fault }) => {
  expect(() => decodePod(buildPod(1, pod))).toThrow(fault);
});
