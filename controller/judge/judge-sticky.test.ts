import { describe, test } from 'vitest';
import {
  buildPod,
  buildPodRecord,
  NODE_NOT_READY,
  NODE_OUT_OF_SERVICE,
  NOW_MS,
  nodeGoneFor,
  nodeReadyFor,
  STATEFUL_SET,
  WALL_MS,
} from '#test/support/build-evidence.ts';
import { checkVerdict, free, type JudgeCase, retain, secondsAgo, suspect } from '#test/support/judge-case.ts';
import { keep } from './verdict.ts';

describe('a pod of a StatefulSet', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
  const record = buildPodRecord({ owner });
  const retained = buildPodRecord({ owner }, { state: 'Retained' });
  const proven = (() => {
    const { uid: _uid, containerID: _containerID, netns: _netns, ...holder } = retained.spec.holder;
    return { ...retained, spec: { ...retained.spec, holder } };
  })();
  const reborn = buildPod({ uid: 'pod-2', podIPs: ['10.0.0.9'], controller: STATEFUL_SET });
  test.each<JudgeCase>([
    { name: 'deleted: its set is asked', record, evidence: {}, verdict: { do: 'read-owner', what: 'stateful-set' } },
    {
      name: 'restarted by its set: retained at once',
      record,
      evidence: { owner: 'valid', goneSinceMs: NOW_MS },
      verdict: retain('in-doubt'),
    },
    {
      name: 'restarted by its set, node not Ready: retained, never suspect',
      record,
      evidence: { owner: 'valid', node: NODE_NOT_READY },
      verdict: retain('in-doubt'),
    },
    {
      name: 'reborn with another uid: retained',
      record,
      evidence: { owner: 'valid', pod: reborn },
      verdict: retain('in-doubt', 'for-next'),
    },
    {
      name: 'whose node is gone: retained, and proven',
      record,
      evidence: { owner: 'valid', node: nodeGoneFor(400) },
      verdict: retain('proven'),
    },
    {
      name: 'scaled away or its set deleted: suspect',
      record,
      evidence: { owner: 'invalid' },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'scaled away or its set deleted, its node lost: free',
      record,
      evidence: { owner: 'invalid', node: nodeGoneFor(300) },
      verdict: free('node-gone'),
    },
    {
      name: 'its set says so for the first time: after a minute',
      record,
      evidence: { owner: 'invalid', ownerAbsentSinceMs: NOW_MS },
      verdict: keep('settling', 60_000),
    },
    {
      name: 'scaled away, node not Ready: suspect',
      record,
      evidence: { owner: 'invalid', node: NODE_NOT_READY },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'whose kind is not served: kept',
      record,
      evidence: { owner: 'not-served', node: nodeGoneFor(900) },
      verdict: keep('holder-kind-not-served', 900_000),
    },
    {
      name: 'Terminating past its deadline: kept until its object is gone',
      record,
      evidence: { owner: 'valid', pod: buildPod({ deletesAtMs: WALL_MS - 9_000 }), node: NODE_OUT_OF_SERVICE },
      verdict: keep('sticky-pod-there'),
    },
    {
      name: 'Failed: kept until its object is gone',
      record,
      evidence: { owner: 'valid', pod: buildPod({ phase: 'Failed', isAnyRunning: false }) },
      verdict: keep('sticky-pod-there'),
    },
    {
      name: 'Failed, its set gone: suspect',
      record,
      evidence: {
        owner: 'invalid',
        pod: buildPod({ phase: 'Failed', isAnyRunning: false, finishedAtMs: WALL_MS - 90_000 }),
        finishedSinceMs: secondsAgo(90),
      },
      verdict: suspect('pod-finished'),
    },
    {
      name: 'retained, its set waits: kept',
      record: retained,
      evidence: { owner: 'valid' },
      verdict: keep('retained'),
    },
    {
      name: 'retained in doubt, its set gone: suspect',
      record: retained,
      evidence: { owner: 'invalid' },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'retained in doubt, its set gone, the node away: suspect',
      record: retained,
      evidence: { owner: 'invalid', node: NODE_NOT_READY },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'retained in doubt, its set gone, the node lost: free',
      record: retained,
      evidence: { owner: 'invalid', node: NODE_OUT_OF_SERVICE },
      verdict: free('node-gone'),
    },
    {
      name: 'retained after its sandbox was torn down, its set gone: free wherever it ran',
      record: proven,
      evidence: { owner: 'invalid', node: NODE_NOT_READY, goneSinceMs: NOW_MS },
      verdict: free('pod-gone'),
    },
    {
      name: 'running again for 4 min without it: kept',
      record: retained,
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(240) },
      verdict: keep('retained', 60_000),
    },
    {
      name: 'running again for 5 min without it: suspect',
      record: retained,
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300) },
      verdict: suspect('not-taken'),
    },
    {
      name: 'running again for 5 min without it, the old node away: suspect',
      record: retained,
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300), node: NODE_NOT_READY },
      verdict: suspect('not-taken'),
    },
    {
      name: 'running again for 5 min without it, the old node lost: free',
      record: retained,
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300), node: nodeGoneFor(300) },
      verdict: free('not-taken'),
    },
    {
      name: 'running again for 5 min without it, the old node back for 20 s: kept',
      record: retained,
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300), node: nodeReadyFor(20) },
      verdict: keep('left-to-agent', 40_000),
    },
    {
      name: 'running again for 5 min without it, its sandbox torn down, the old node back: free',
      record: proven,
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300), node: nodeReadyFor(20) },
      verdict: free('not-taken'),
    },
    {
      name: 'Suspect from when its set was away, and runs again without it for 5 min: left to its agent',
      record: buildPodRecord({ owner }, { state: 'Suspect' }),
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300) },
      verdict: keep('left-to-agent'),
    },
    {
      name: 'Suspect, runs again, the node of its pod before away: kept',
      record: buildPodRecord({ owner }, { state: 'Suspect' }),
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300), node: NODE_NOT_READY },
      verdict: keep('node-away'),
    },
    {
      name: 'Suspect, and not running again: kept',
      record: buildPodRecord({ owner }, { state: 'Suspect' }),
      evidence: { owner: 'valid' },
      verdict: keep('retained'),
    },
    {
      name: 'with sticky sets switched off: as any other',
      record,
      evidence: {},
      settings: { keepsStatefulSets: false },
      verdict: suspect('pod-gone'),
    },
  ])('$name', checkVerdict);
});
