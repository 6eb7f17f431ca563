import { test } from 'vitest';
import {
  agentAwayFor,
  buildPod,
  buildPodRecord,
  NODE_NOT_READY,
  NODE_OUT_OF_SERVICE,
  nodeGoneFor,
  WALL_MS,
} from '#test/support/build-evidence.ts';
import { checkVerdict, free, type JudgeCase, secondsAgo } from '#test/support/judge-case.ts';
import { keep } from './verdict.ts';

const marked = buildPodRecord({ static: true });
const ofOlderAgent = buildPodRecord({ owner: { apiVersion: 'v1', kind: 'Node', name: 'worker-1' } });

/** Its mirror object may be missing while it runs: its namespace was deleted, or admission refuses the mirror. */
test.each<JudgeCase>([
  { name: 'its object is away for long: kept', record: marked, evidence: {}, verdict: keep('static-pod') },
  {
    name: 'its object is away, in a record of an older agent: kept',
    record: ofOlderAgent,
    evidence: {},
    verdict: keep('static-pod'),
  },
  {
    name: 'its object is away and its node too: kept',
    record: marked,
    evidence: { node: NODE_NOT_READY },
    verdict: keep('static-pod'),
  },
  {
    name: 'its object is away and no agent is there: kept',
    record: marked,
    evidence: { agent: agentAwayFor(900) },
    verdict: keep('static-pod'),
  },
  {
    name: 'another pod has the name of its object: kept',
    record: marked,
    evidence: { pod: buildPod({ uid: 'b' }), goneSinceMs: secondsAgo(900) },
    verdict: keep('static-pod'),
  },
  {
    name: 'its object is overdue: kept',
    record: marked,
    evidence: { pod: buildPod({ deletesAtMs: WALL_MS - 900_000 }) },
    verdict: keep('static-pod'),
  },
  {
    name: 'running without an address in its status, where others become suspect: kept',
    record: marked,
    evidence: { pod: buildPod({ podIPs: [] }) },
    settings: { suspectsRunningWithoutAddress: true },
    verdict: keep('pod-alive'),
  },
  {
    name: 'its node gone for 4 min: not yet',
    record: marked,
    evidence: { node: nodeGoneFor(240) },
    verdict: keep('node-gone-lately', 60_000),
  },
  {
    name: 'its node gone for 5 min: free',
    record: marked,
    evidence: { node: nodeGoneFor(300) },
    verdict: free('node-gone'),
  },
  {
    name: 'its node out of service: free',
    record: ofOlderAgent,
    evidence: { node: NODE_OUT_OF_SERVICE },
    verdict: free('node-gone'),
  },
])('a static pod, $name', checkVerdict);
