import { describe, test } from 'vitest';
import {
  agentAwayFor,
  agentReadyFor,
  buildPod,
  buildPodRecord,
  NODE_HERE,
  NODE_NOT_READY,
  NODE_OUT_OF_SERVICE,
  NODE_STALE,
  NODE_UNSEEN,
  NOW_MS,
  nodeGoneFor,
  nodeReadyFor,
  nodeSteadyFor,
  WALL_MS,
} from '#test/support/build-evidence.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { checkVerdict, free, type JudgeCase, secondsAgo, suspect } from '#test/support/judge-case.ts';
import { keep, type Verdict } from './verdict.ts';

describe('a pod that was deleted, stateless', () => {
  const alone = buildPod({ uid: 'pod-2', name: 'web-0', podIPs: [] });
  const suspected = buildPodRecord({}, { state: 'Suspect' });
  const nowhere = buildPodRecord({ node: '' });
  test.each<JudgeCase>([
    {
      name: 'by what the watches say: read first',
      evidence: { goneSinceMs: null },
      verdict: { do: 'read-pod' },
    },
    { name: 'just now: its agent has a minute', evidence: { goneSinceMs: NOW_MS }, verdict: keep('settling', 60_000) },
    { name: '59 s ago: not yet', evidence: { goneSinceMs: secondsAgo(59) }, verdict: keep('settling', 1_000) },
    {
      name: '60 s ago, and its Ready agent did not release it: suspect, never free',
      evidence: { goneSinceMs: secondsAgo(60) },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'long ago, but this version of the record is young: after a minute',
      evidence: { firstSeenMs: secondsAgo(10) },
      verdict: keep('settling', 50_000),
    },
    {
      name: 'with an additional delay: that much later',
      evidence: { goneSinceMs: secondsAgo(60) },
      settings: { additionalDelayMs: 5_000 },
      verdict: keep('settling', 5_000),
    },
    {
      name: 'and a new one of its name has another uid: suspect',
      evidence: { pod: alone, goneSinceMs: secondsAgo(61) },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'its agent Ready for 20 s: it has the rest of its minute',
      evidence: { agent: agentReadyFor(20) },
      verdict: keep('left-to-agent', 40_000),
    },
    {
      name: 'its agent away for 4 min, as in a rollout: wait',
      evidence: { agent: agentAwayFor(240) },
      verdict: keep('agent-away-lately', 60_000),
    },
    {
      name: 'its agent away for 5 min: suspect',
      evidence: { agent: agentAwayFor(300) },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'its node back for 20 s: the agent has 5 min to come back too',
      evidence: { agent: agentAwayFor(900), node: nodeSteadyFor(20) },
      verdict: keep('agent-away-lately', 280_000),
    },
    { name: 'on a node that is not Ready: suspect', evidence: { node: NODE_NOT_READY }, verdict: suspect('pod-gone') },
    {
      name: 'on a Ready node whose lease is stale: suspect',
      evidence: { node: NODE_STALE },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'on a node that this leader never saw renewing, so far: wait',
      evidence: { node: NODE_UNSEEN },
      verdict: keep('node-unsure', 5_000),
    },
    {
      name: 'on a node that this leader never saw renewing, for long: suspect',
      evidence: { node: { ...NODE_UNSEEN, lookedSinceMs: 0 } },
      verdict: suspect('pod-gone'),
    },
    { name: 'with its node gone for 5 min: free', evidence: { node: nodeGoneFor(300) }, verdict: free('node-gone') },
    {
      name: 'with its node gone for 4 min: wait',
      evidence: { node: nodeGoneFor(240) },
      verdict: keep('node-gone-lately', 60_000),
    },
    {
      name: 'with its node out of service: free',
      evidence: { node: NODE_OUT_OF_SERVICE },
      verdict: free('node-gone'),
    },
    {
      name: 'and already suspect, node still away: left',
      record: suspected,
      evidence: { node: NODE_NOT_READY },
      verdict: keep('node-away'),
    },
    {
      name: 'and already suspect, its node well: left to its agent, however long, and not even read',
      record: suspected,
      evidence: { goneSinceMs: null },
      verdict: keep('left-to-agent'),
    },
    {
      name: 'and already suspect, no agent there: left',
      record: suspected,
      evidence: { agent: agentAwayFor(900) },
      verdict: keep('node-away'),
    },
    {
      name: 'and its node has been back for 20 s: not yet',
      evidence: { node: nodeSteadyFor(20) },
      verdict: keep('left-to-agent', 40_000),
    },
    {
      name: 'and its node has been Ready again for 59 s, with an additional delay: not yet',
      evidence: { node: nodeReadyFor(59) },
      settings: { additionalDelayMs: 5_000 },
      verdict: keep('left-to-agent', 6_000),
    },
    {
      name: 'and already suspect, node back and out of service: free',
      record: suspected,
      evidence: { node: { ...NODE_OUT_OF_SERVICE, readySinceMs: NOW_MS } },
      verdict: free('node-gone'),
    },
    {
      name: 'and already suspect, its node gone, by what the watches say: read first',
      record: suspected,
      evidence: { node: nodeGoneFor(300), goneSinceMs: null },
      verdict: { do: 'read-pod' },
    },
    {
      name: 'adopted without a node: free after a minute',
      record: nowhere,
      evidence: { goneSinceMs: secondsAgo(60) },
      verdict: free('pod-gone'),
    },
    {
      name: 'adopted without a node, just now: not yet',
      record: nowhere,
      evidence: { goneSinceMs: secondsAgo(1) },
      verdict: keep('settling', 59_000),
    },
    {
      name: 'adopted without a node, and suspect from before: free',
      record: buildPodRecord({ node: '' }, { state: 'Suspect' }),
      evidence: {},
      verdict: free('pod-gone'),
    },
    {
      name: 'of a set of another maker than Kubernetes: as any other',
      record: buildPodRecord({ owner: { apiVersion: 'apps.kruise.io/v1beta1', kind: 'StatefulSet', name: 'web' } }),
      evidence: {},
      verdict: suspect('pod-gone'),
    },
  ])('$name', checkVerdict);
});

describe('a pod that lives', () => {
  test.each<JudgeCase>([
    {
      name: 'running with its address: kept',
      evidence: { pod: buildPod(), claimants: [buildPod()] },
      verdict: keep('pod-alive'),
    },
    {
      name: 'Pending: kept',
      evidence: { pod: buildPod({ phase: 'Pending', podIPs: [] }) },
      verdict: keep('pod-pending'),
    },
    {
      name: 'running, no address in its status: kept',
      evidence: { pod: buildPod({ podIPs: [] }) },
      verdict: keep('pod-alive'),
    },
    {
      name: 'running, no address in its status, switched on: suspect',
      evidence: { pod: buildPod({ podIPs: [] }) },
      settings: { suspectsRunningWithoutAddress: true },
      verdict: suspect('running-without-address'),
    },
    {
      name: 'on a node that is not Ready: kept',
      evidence: { pod: buildPod(), node: NODE_NOT_READY },
      verdict: keep('pod-alive'),
    },
    {
      name: 'of phase Unknown: kept',
      evidence: { pod: buildPod({ phase: 'Unknown', podIPs: [] }), node: NODE_NOT_READY },
      verdict: keep('pod-alive'),
    },
  ])('$name', checkVerdict);

  const pod = buildPod();
  const again: Verdict = { do: 'allocate-again', cause: 'edited-by-hand', pod };
  test.each<JudgeCase>([
    { name: 'another uid in its record', record: buildPodRecord({ uid: 'edited' }), evidence: {}, verdict: again },
    {
      name: 'another name in its record',
      record: buildPodRecord({ name: 'edited' }),
      evidence: { pod: null },
      verdict: again,
    },
    { name: 'another node in its record', record: buildPodRecord({ node: 'edited' }), evidence: {}, verdict: again },
    { name: 'a Suspect record', record: buildPodRecord({}, { state: 'Suspect' }), evidence: {}, verdict: again },
    { name: 'a Retained record', record: buildPodRecord({}, { state: 'Retained' }), evidence: {}, verdict: again },
    {
      name: 'a Cooling record, its rest over',
      record: buildPodRecord({}, { state: 'Cooling', until: '2026-11-16T11:00:00Z' }),
      evidence: {},
      verdict: again,
    },
    {
      name: 'a record in another pod’s name',
      record: buildPodRecord({ name: 'other', uid: 'other' }),
      evidence: { pod: null },
      verdict: again,
    },
    {
      name: 'a record that changed a moment ago: not yet',
      record: buildPodRecord({ uid: 'edited' }),
      evidence: { firstSeenMs: secondsAgo(20) },
      verdict: keep('settling', 40_000),
    },
  ])('and has, by its status, the address of $name', (row) => {
    checkVerdict({ ...row, evidence: { pod, claimants: [pod], ...row.evidence } });
  });

  test.each<JudgeCase>([
    {
      name: 'two pods have it: nobody can tell',
      record: buildPodRecord({ uid: 'gone' }),
      evidence: { claimants: [buildPod({ uid: 'a' }), buildPod({ uid: 'b' })] },
      verdict: keep('two-pods-claim-it'),
    },
    {
      name: 'the holder lives, and another has it: left',
      evidence: { pod: buildPod({ podIPs: [] }), claimants: [buildPod({ name: 'thief', uid: 'b' })] },
      verdict: keep('two-pods-claim-it'),
    },
    {
      name: 'a living one and one that is being deleted have it, and the record names neither: the living one',
      record: buildPodRecord({ uid: 'gone' }),
      evidence: { claimants: [buildPod({ uid: 'a', deletesAtMs: WALL_MS }), buildPod({ uid: 'b' })] },
      verdict: { do: 'allocate-again', cause: 'edited-by-hand', pod: buildPod({ uid: 'b' }) },
    },
    {
      name: 'the holder took it over and lives, and the pod before it still shows it while it ends: that is no quarrel',
      evidence: {
        pod: buildPod({ podIPs: [] }),
        claimants: [buildPod({ name: 'before', uid: 'b', deletesAtMs: WALL_MS - 9_000 })],
      },
      verdict: keep('pod-alive'),
    },
    {
      name: 'the holder is ending, and a living one has it: left, and told',
      evidence: {
        pod: buildPod({ deletesAtMs: WALL_MS - 99_000 }),
        claimants: [buildPod({ deletesAtMs: WALL_MS - 99_000 }), buildPod({ name: 'other', uid: 'b' })],
        node: nodeGoneFor(900),
      },
      verdict: keep('two-pods-claim-it'),
    },
    {
      name: 'one that is being deleted has it: left',
      record: buildPodRecord({ uid: 'gone' }),
      evidence: { claimants: [buildPod({ deletesAtMs: WALL_MS + 600_000 })] },
      verdict: keep('address-in-use'),
    },
  ])('$name', checkVerdict);
});

describe('a record that rests', () => {
  const cooling = (until: string) => buildPodRecord({}, { state: 'Cooling', until });
  test.each<JudgeCase>([
    {
      name: 'Cooling, past its time: free',
      record: cooling('2026-11-16T12:00:00Z'),
      evidence: {},
      verdict: free('cooled'),
    },
    {
      name: 'Cooling, before its time: kept',
      record: cooling('2026-11-16T12:01:00Z'),
      evidence: {},
      verdict: keep('resting', 60_000),
    },
    {
      name: 'Quarantined, past its time: free',
      record: buildPodRecord({ kind: 'Conflict' }, { state: 'Quarantined', until: '2026-11-16T11:00:00Z' }),
      evidence: { node: nodeGoneFor(0) },
      verdict: free('quarantine-over'),
    },
    {
      name: 'by a clock that is years ahead: no longer than the longest rest since it was first seen',
      record: cooling('2031-01-01T00:00:00Z'),
      evidence: { firstSeenMs: secondsAgo(600) },
      settings: { longestRestMs: 600_000 },
      verdict: free('cooled'),
    },
  ])('$name', checkVerdict);
});

describe('what is judged elsewhere', () => {
  test.each(['Container', 'IPAddressClaim', 'IPAllocation'] as const)('a holder of kind %s', (kind) => {
    const record = buildRecord({ holder: { kind, node: '' } });
    checkVerdict({ name: kind, record, evidence: { node: NODE_HERE }, verdict: keep('not-judged-here') });
  });

  test('the address of a machine is not given to a pod that shows it in its status', () => {
    const record = buildRecord({ holder: { kind: 'IPAddressClaim', node: '' } });
    const evidence = { claimants: [buildPod()], firstSeenMs: 0 };
    checkVerdict({ name: 'claim', record, evidence, verdict: keep('not-judged-here') });
  });
});
