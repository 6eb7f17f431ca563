import { expect, test } from 'vitest';
import { buildPod } from '#test/support/build-pod.ts';
import { decodePod } from './decode-pod.ts';
import { isAlive } from './pod-life.ts';
import { pickFields, trimPodMetadata } from './trim-pod.ts';

const owner = (name: string, more = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name,
  uid: `uid-${name}`,
  ...more,
});

test('addresses are in canonical form, the controller is not the first owner, a time is in milliseconds', () => {
  const metadata = {
    ownerReferences: [owner('a'), owner('b', { controller: true })],
    deletionTimestamp: '1970-01-01T00:00:01Z',
  };
  const podIPs = [{ ip: '10.0.0.5' }, { ip: 'FD00:0::5' }, { ip: 'nonsense' }, {}];
  const pod = buildPod(7, {
    metadata,
    spec: { hostNetwork: true },
    status: { podIPs, phase: 'Failed', reason: 'Evicted' },
  });
  expect(decodePod(pod)).toEqual({
    namespace: 'prod',
    name: 'web',
    uid: 'u1',
    objectUid: 'u1',
    node: 'worker-1',
    isHostNetwork: true,
    phase: 'Failed',
    reason: 'Evicted',
    deletesAtMs: 1_000,
    controller: owner('b'),
    podIPs: ['10.0.0.5', 'fd00::5'],
  });
});

test('owners of which none is marked are no controller', () => {
  const ownerReferences = [owner('a'), owner('c', { controller: false })];
  expect(decodePod(buildPod(1, { metadata: { ownerReferences } })).controller).toBeNull();
});

test('a mirror pod has the UID of the static pod behind it', () => {
  const annotations = { 'kubernetes.io/config.mirror': 'static-1' };
  expect(decodePod(buildPod(1, { metadata: { annotations } }))).toMatchObject({ uid: 'static-1', objectUid: 'u1' });
});

test.each(['Always', 'OnFailure', 'Never'])(
  'a finished pod is not alive, also with restartPolicy %s',
  (restartPolicy) => {
    for (const phase of ['Succeeded', 'Failed']) {
      expect(isAlive(decodePod(buildPod(1, { spec: { restartPolicy }, status: { phase } })))).toBe(false);
    }
  },
);

test.each<{ name: string; pod: Parameters<typeof buildPod>[1]; fault: string }>([
  { name: 'a node that is no text', pod: { spec: { nodeName: 7 } }, fault: 'spec.nodeName: expected a string' },
  { name: 'a phase that is no text', pod: { status: { phase: {} } }, fault: 'status.phase: expected a string' },
  { name: 'addresses that are no list', pod: { status: { podIPs: 'x' } }, fault: 'status.podIPs: expected a list' },
  {
    name: 'a time of deletion that is no time',
    pod: { metadata: { deletionTimestamp: 'soon' } },
    fault: 'metadata.deletionTimestamp: is not a time',
  },
  {
    name: 'owners that are no list',
    pod: { metadata: { ownerReferences: {} } },
    fault: 'metadata.ownerReferences: expected a list',
  },
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
])('a pod is refused for $name, trimmed or not', ({ pod, fault }) => {
  const object = buildPod(1, pod);
  const trimmed = {
    metadata: trimPodMetadata(object.metadata),
    spec: pickFields(object.spec, ['nodeName']),
    status: pickFields(object.status, ['phase', 'podIPs']),
  };
  expect(() => decodePod(object)).toThrow(fault);
  expect(() => decodePod(trimmed)).toThrow(fault);
});

test.each([{ spec: 7 }, { status: [] }])('a pod with %j is refused', (part) => {
  expect(() => decodePod({ ...buildPod(1), ...part })).toThrow('expected an object');
});

test('a thousand and one owners are refused', () => {
  const ownerReferences = Array.from({ length: 1001 }, () => ({}));
  expect(() => decodePod(buildPod(1, { metadata: { ownerReferences } }))).toThrow('has 1001 items');
});
