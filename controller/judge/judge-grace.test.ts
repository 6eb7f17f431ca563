import { test } from 'vitest';
import {
  agentAwayFor,
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
const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
const lying = buildPodRecord({ owner }, { state: 'Retained' });

/** Its kubelet stops it with the grace of its spec, from when it hears that the object is gone, and then takes its sandbox down. */
test.each<JudgeCase>([
  {
    name: 'its node back for 61 s: kept for the rest of its grace and half a minute',
    evidence: { graceMs, node: nodeReadyFor(61) },
    verdict: keep('within-grace', 569_000),
  },
  {
    name: 'its node back for 20 s: the minute of every agent first',
    evidence: { graceMs, node: nodeReadyFor(20) },
    verdict: keep('left-to-agent', 40_000),
  },
  {
    name: 'the lease of its node renewed again for 629 s: not yet',
    evidence: { graceMs, node: nodeSteadyFor(629) },
    verdict: keep('within-grace', 1_000),
  },
  {
    name: 'its node back for 630 s: suspect',
    evidence: { graceMs, node: nodeReadyFor(630) },
    verdict: suspect('pod-gone'),
  },
  {
    name: 'its node back for 630 s, with an additional delay: that much later',
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
    name: 'gone for 630 s from a node that was well all the while: suspect',
    evidence: { graceMs, goneSinceMs: secondsAgo(630) },
    verdict: suspect('pod-gone'),
  },
  {
    name: 'gone for 310 s from a node without an agent: its kubelet gives it its grace all the same',
    evidence: { graceMs, goneSinceMs: secondsAgo(310), agent: agentAwayFor(310) },
    verdict: keep('within-grace', 320_000),
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
    evidence: { graceMs: null, node: nodeReadyFor(60), goneSinceMs: NOW_MS - 60_000 },
    verdict: suspect('pod-gone'),
  },
])('a pod with a grace of 600 s was deleted by force, $name', checkVerdict);
