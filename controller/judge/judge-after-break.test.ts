import { test } from 'vitest';
import { NODE_OUT_OF_SERVICE, nodeGoneFor } from '#test/support/build-evidence.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { checkVerdict, free, type JudgeCase, secondsAgo, suspect } from '#test/support/judge-case.ts';
import { keep } from './verdict.ts';

const COOLING = buildRecord({ state: 'Cooling', until: '2026-11-16T11:00:00Z' });

/** After a restore of etcd, and after a break that may have been one, agents write lost records back first. */
test.each<JudgeCase>([
  {
    name: 'a lost node frees nothing at once',
    evidence: { node: nodeGoneFor(300), steadySinceMs: secondsAgo(10) },
    verdict: keep('after-break', 50_000),
  },
  {
    name: 'nor does an out-of-service taint, which may be an old one',
    evidence: { node: NODE_OUT_OF_SERVICE, steadySinceMs: secondsAgo(59) },
    verdict: keep('after-break', 1_000),
  },
  {
    name: 'after a minute it does',
    evidence: { node: nodeGoneFor(300), steadySinceMs: secondsAgo(60) },
    verdict: free('node-gone'),
  },
  {
    name: 'what a pod left behind becomes Suspect a minute later too',
    evidence: { goneSinceMs: secondsAgo(60), steadySinceMs: secondsAgo(10) },
    verdict: keep('after-break', 50_000),
  },
  { name: 'and then it does', evidence: { goneSinceMs: secondsAgo(60) }, verdict: suspect('pod-gone') },
  {
    name: 'a pod that the watches do not have is read at once',
    evidence: { goneSinceMs: null, steadySinceMs: secondsAgo(0) },
    verdict: { do: 'read-pod' },
  },
  {
    name: 'a rest ends in time: the agent whose sandbox has the address waits for that',
    record: COOLING,
    evidence: { steadySinceMs: secondsAgo(0) },
    verdict: free('cooled'),
  },
])('$name', checkVerdict);
