import { expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { choosePods, MOST_PODS } from './pod-choice.ts';

const pod = (name: string, component: string, state: { ready: boolean; restartCount: number } | null): KubeObject => ({
  metadata: { name, uid: 'u', resourceVersion: '1', labels: { 'app.kubernetes.io/component': component } },
  spec: { initContainers: [{ name: 'install' }], containers: [{ name: 'main', ports: PORTS }] },
  status: state === null ? {} : { containerStatuses: [{ name: 'main', ...state }] },
});
const PORTS = [
  { name: 'health', containerPort: 1 },
  { name: 'metrics', containerPort: 15_711 },
];
const FINE = { ready: true, restartCount: 0 };

test('controllers come first, then agents in trouble, then the others, and not all of thousands', () => {
  const crowd = Array.from({ length: 100 }, (_, n) => pod(`agent-${String(n).padStart(3, '0')}`, 'agent', FINE));
  const chosen = choosePods([
    ...crowd,
    pod('z-restarted', 'agent', { ready: true, restartCount: 2 }),
    pod('y-unready', 'agent', { ready: false, restartCount: 0 }),
    pod('x-new', 'agent', null),
    pod('c-1', 'controller', FINE),
  ]);
  expect(chosen).toHaveLength(MOST_PODS);
  expect(chosen.slice(0, 5).map(({ name }) => name)).toEqual(['c-1', 'x-new', 'y-unready', 'z-restarted', 'agent-000']);
  expect(chosen[3]).toEqual({
    name: 'z-restarted',
    containers: ['install', 'main'],
    restarted: ['main'],
    metricsPort: 15_711,
  });
});

test('a pod without a port of that name has no port for metrics', () => {
  const { metadata } = pod('agent-1', 'agent', FINE);
  expect(choosePods([{ metadata, spec: { containers: [{ name: 'main' }] } }])).toMatchObject([{ metricsPort: null }]);
});
