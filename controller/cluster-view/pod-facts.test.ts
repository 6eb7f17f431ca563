import { describe, expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { toPodFacts, trimPod } from './pod-facts.ts';
import { SharedValues } from './shared-values.ts';

const terminated = (finishedAt: string) => ({ state: { terminated: { exitCode: 0, finishedAt } } });
const POD: KubeObject = {
  metadata: {
    name: 'web-0',
    namespace: 'prod',
    uid: 'u1',
    resourceVersion: '7',
    labels: { app: 'web' },
    annotations: { note: 'x'.repeat(1_000) },
    managedFields: [{ manager: 'somebody' }],
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u2' },
      { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u3', controller: true },
    ],
  } as KubeObject['metadata'],
  spec: { nodeName: 'worker-1', containers: [{ name: 'a', image: 'a' }], terminationGracePeriodSeconds: 5 },
  status: { phase: 'Running', podIPs: [{ ip: '10.0.0.5' }, { ip: 'FD00:0::5' }, { ip: 'nonsense' }] },
};
const factsOf = (pod: KubeObject) => toPodFacts(pod, new SharedValues());
const withStatus = (status: object, spec: object = {}): KubeObject => ({
  ...POD,
  spec: { ...(POD['spec'] as object), ...spec },
  status,
});

test('the facts of a pod, addresses in their one form, its controller and not its first owner', () => {
  expect(factsOf(POD)).toEqual({
    namespace: 'prod',
    name: 'web-0',
    uid: 'u1',
    objectUid: 'u1',
    node: 'worker-1',
    phase: 'Running',
    isHostNetwork: false,
    deletesAtMs: null,
    graceSeconds: 5,
    controller: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u3' },
    isMigrationTarget: false,
    podIPs: ['10.0.0.5', 'fd00::5'],
    haveAllEnded: false,
    isAnyRunning: false,
    finishedAtMs: null,
    subnetWish: null,
  });
});

test('a mirror pod is known by the uid of the static pod behind it', () => {
  const metadata = { ...POD.metadata, annotations: { 'kubernetes.io/config.mirror': 'static-uid' } };
  expect(factsOf({ ...POD, metadata }).uid).toBe('static-uid');
  expect(factsOf(trimPod({ ...POD, metadata })).uid).toBe('static-uid');
});

test('the target of a migration is known by its annotation', () => {
  const metadata = { ...POD.metadata, annotations: { 'kubevirt.io/migrationJobName': 'job-1' } };
  expect(factsOf({ ...POD, metadata }).isMigrationTarget).toBe(true);
  expect(factsOf(trimPod({ ...POD, metadata })).isMigrationTarget).toBe(true);
});

describe('whether its containers have ended', () => {
  const done = terminated('2026-11-16T10:00:00Z');
  test.each([
    { name: 'no status at all', status: {}, ended: false },
    { name: 'all of them', status: { containerStatuses: [done] }, ended: true },
    { name: 'one of two', status: { containerStatuses: [done, { state: { running: {} } }] }, ended: false },
    { name: 'one waits', status: { containerStatuses: [done, { state: { waiting: {} } }] }, ended: false },
    {
      name: 'one has no status',
      status: { containerStatuses: [done] },
      spec: { containers: [{ name: 'a' }, { name: 'b' }] },
      ended: false,
    },
    {
      name: 'an ephemeral one runs',
      status: { containerStatuses: [done], ephemeralContainerStatuses: [{ state: { running: {} } }] },
      ended: false,
    },
    {
      name: 'a sidecar among the init containers runs',
      status: { containerStatuses: [done], initContainerStatuses: [{ state: { running: {} } }] },
      ended: false,
    },
  ])('$name: $ended', ({ status, spec = {}, ended }) => {
    const pod = withStatus(status, spec);
    expect(factsOf(pod).haveAllEnded).toBe(ended);
    expect(factsOf(trimPod(pod))).toEqual(factsOf(pod));
  });
});

test('it finished when its last container did', () => {
  const containerStatuses = [terminated('2026-11-16T10:00:00Z'), terminated('2026-11-16T10:05:00Z'), { state: {} }];
  expect(factsOf(withStatus({ containerStatuses })).finishedAtMs).toBe(Date.parse('2026-11-16T10:05:00Z'));
});

test('what is trimmed says the same, and is small', () => {
  expect(factsOf(trimPod(POD))).toEqual(factsOf(POD));
  expect(JSON.stringify(trimPod(POD)).length).toBeLessThan(700);
});

test.each([{}, { spec: { containers: 'x' }, status: { containerStatuses: [null] } }])(
  'containers that make no sense have not ended: %j',
  (parts) => {
    const pod = { metadata: POD.metadata, ...parts };
    expect(factsOf(pod)).toMatchObject({ node: '', podIPs: [], haveAllEnded: false });
    expect(factsOf(trimPod(pod))).toEqual(factsOf(pod));
  },
);

test.each([{ status: 7 }, { status: { podIPs: {} } }, { status: { phase: 7 } }, { spec: { nodeName: {} } }])(
  'a pod that cannot be read is not taken for one without an address or a node: %j',
  (parts) => {
    const pod = { metadata: POD.metadata, ...parts };
    expect(() => factsOf(pod)).toThrow('expected');
    expect(() => factsOf(trimPod(pod))).toThrow('expected');
  },
);
