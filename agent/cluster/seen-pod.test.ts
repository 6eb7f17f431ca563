import { expect, test } from 'vitest';
import { buildPod } from '#test/support/build-pod.ts';
import { toSeenPod } from './seen-pod.ts';

test('the facts say whether a pod is alive, and why it is not', () => {
  const facts = (pod: Parameters<typeof buildPod>[1]) => toSeenPod(buildPod(1, pod)).facts;
  expect(facts({})).toMatchObject({ isAlive: true });
  expect(facts({})).not.toHaveProperty('endedBecause');
  const failed = facts({ spec: { restartPolicy: 'Always' }, status: { phase: 'Failed' } });
  expect(failed).toMatchObject({ isAlive: false, endedBecause: 'it has failed' });
});

test('a mirror pod goes by the UID of the static pod behind it', () => {
  const annotations = { 'kubernetes.io/config.mirror': 'static-1' };
  const { facts, objectUid } = toSeenPod(buildPod(1, { metadata: { annotations } }));
  expect([facts.uid, objectUid]).toEqual(['static-1', 'u1']);
  expect(facts.isStatic).toBe(true);
});

test('a pod that its Node owns is static too', () => {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'worker-1', uid: 'n1', controller: true }];
  expect(toSeenPod(buildPod(1, { metadata: { ownerReferences } })).facts.isStatic).toBe(true);
});

test('a pod that is being deleted says when its grace is over', () => {
  const deletionTimestamp = '2026-01-01T00:00:30Z';
  const { facts } = toSeenPod(buildPod(1, { metadata: { deletionTimestamp } }));
  expect(facts.deletesAtMs).toBe(Date.parse(deletionTimestamp));
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
  });
  expect(toSeenPod(pod).facts).toEqual({
    namespace: 'prod',
    name: 'web',
    uid: 'u1',
    resourceVersion: '7',
    node: 'worker-1',
    labels,
    annotations: kept,
    controller: null,
    isAlive: true,
    hadSandbox: false,
  });
});
