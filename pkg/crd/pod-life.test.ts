import { expect, test } from 'vitest';
import { isAlive, isFinished, whyEnded } from './pod-life.ts';

const DELETED = 1_000;

test.each([
  { name: 'a pod without a status', phase: '', dead: null },
  { name: 'a pending pod', phase: 'Pending', dead: null },
  { name: 'a running pod', phase: 'Running', dead: null },
  { name: 'a pod whose kubelet is away', phase: 'Unknown', dead: null },
  { name: 'a pod that has succeeded', phase: 'Succeeded', dead: 'it has succeeded' },
  { name: 'a pod that has failed', phase: 'Failed', dead: 'it has failed' },
  { name: 'a pod that failed at a deadline', phase: 'Failed', reason: 'DeadlineExceeded', dead: 'it has failed' },
  { name: 'an evicted pod', phase: 'Failed', reason: 'Evicted', dead: 'it was evicted' },
  { name: 'a running pod that is being deleted', phase: 'Running', deletesAtMs: DELETED, dead: 'it is being deleted' },
  { name: 'a finished pod that is being deleted', phase: 'Failed', deletesAtMs: DELETED, dead: 'it is being deleted' },
])('$name: $dead', ({ phase, reason = '', deletesAtMs = null, dead }) => {
  const pod = { phase, reason, deletesAtMs };
  expect([whyEnded(pod), isAlive(pod)]).toEqual([dead, dead === null]);
  expect(isFinished(pod)).toBe(phase === 'Succeeded' || phase === 'Failed');
});
