import { test } from 'vitest';
import {
  buildPodRecord,
  NODE_NOT_READY,
  NODE_OUT_OF_SERVICE,
  NOW_MS,
  nodeReadyFor,
  nodeSteadyFor,
} from '#test/support/build-evidence.ts';
import { checkVerdict, free, type JudgeCase, secondsAgo, suspect } from '#test/support/judge-case.ts';
import { keep } from './verdict.ts';

const graceMs = 600_000;
const suspected = buildPodRecord({}, { state: 'Suspect' });
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
const lying = buildPodRecord({ owner }, { state: 'Retained' });

/** Its kubelet stops it with the grace of its spec, from when it hears that the object is gone, and then takes its sandbox down. */
test.each<JudgeCase>([
  {
    name: 'its node back for 61 s: kept for the rest of its grace and half a minute',
    record: suspected,
    evidence: { graceMs, node: nodeReadyFor(61) },
    verdict: keep('within-grace', 569_000),
  },
  {
    name: 'its node back for 20 s: the minute of every pod first',
    record: suspected,
    evidence: { graceMs, node: nodeReadyFor(20) },
    verdict: keep('node-back-lately', 40_000),
  },
  {
    name: 'the lease of its node renewed again for 629 s: not yet',
    record: suspected,
    evidence: { graceMs, node: nodeSteadyFor(629) },
    verdict: keep('within-grace', 1_000),
  },
  {
    name: 'its node back for 630 s: free',
    record: suspected,
    evidence: { graceMs, node: nodeReadyFor(630) },
    verdict: free('pod-gone'),
  },
  {
    name: 'its node back for 630 s, with an additional delay: that much later',
    record: suspected,
    evidence: { graceMs, node: nodeReadyFor(630) },
    settings: { additionalDelayMs: 5_000 },
    verdict: keep('within-grace', 5_000),
  },
  {
    name: 'gone for 61 s from a node that was well all the while: its grace counts from then',
    evidence: { graceMs, goneSinceMs: secondsAgo(61) },
    verdict: keep('within-grace', 569_000),
  },
  {
    name: 'gone for 630 s from a node that was well all the while: free',
    evidence: { graceMs, goneSinceMs: secondsAgo(630) },
    verdict: free('pod-gone'),
  },
  {
    name: 'its node away: suspect after a minute like any other',
    evidence: { graceMs, goneSinceMs: secondsAgo(60), node: NODE_NOT_READY },
    verdict: suspect('pod-gone'),
  },
  {
    name: 'its node out of service: nothing runs there any more',
    evidence: { graceMs, goneSinceMs: secondsAgo(60), node: NODE_OUT_OF_SERVICE },
    verdict: free('node-gone'),
  },
  {
    name: 'retained in doubt and not taken by the next of its name: kept as long',
    record: lying,
    evidence: { graceMs, owner: 'valid', idleSinceMs: secondsAgo(301), node: nodeReadyFor(301) },
    verdict: keep('within-grace', 329_000),
  },
  {
    name: 'its grace not known to this leader: the minute of every pod',
    record: suspected,
    evidence: { graceMs: null, node: nodeReadyFor(60), goneSinceMs: NOW_MS - 60_000 },
    verdict: free('pod-gone'),
  },
])('a pod with a grace of 600 s was deleted by force, $name', checkVerdict);
