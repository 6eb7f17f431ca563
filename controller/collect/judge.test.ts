import { describe, expect, test } from 'vitest';
import type { IpRecord } from '#pkg/crd/ip-record.ts';
import {
  buildEvidence,
  buildPod,
  buildPodRecord,
  NODE_HERE,
  NODE_NOT_READY,
  NODE_OUT_OF_SERVICE,
  NODE_STALE,
  NODE_UNSEEN,
  NOW_MS,
  nodeGoneFor,
  STATEFUL_SET,
  WALL_MS,
} from '#test/support/build-evidence.ts';
import { buildRecord } from '#test/support/build-record.ts';
import { COLLECT_DEFAULTS, type CollectSettings } from './collect-settings.ts';
import type { Evidence } from './evidence.ts';
import { judge } from './judge.ts';
import { keep, type Verdict } from './verdict.ts';

interface Case {
  readonly name: string;
  readonly record?: IpRecord;
  readonly evidence: Partial<Evidence>;
  readonly settings?: Partial<CollectSettings>;
  readonly verdict: Verdict;
}

function check({ record = buildPodRecord(), evidence, settings = {}, verdict }: Case): void {
  expect(judge(record, buildEvidence(evidence), { ...COLLECT_DEFAULTS, ...settings })).toEqual(verdict);
}

const free = (cause: Extract<Verdict, { do: 'free' }>['cause']): Verdict => ({ do: 'free', cause });
const suspect = (cause: Extract<Verdict, { do: 'suspect' }>['cause']): Verdict => ({ do: 'suspect', cause });
const retain = (isProven: boolean): Verdict => ({ do: 'retain', cause: 'pod-gone', isProven });
const secondsAgo = (seconds: number) => NOW_MS - seconds * 1_000;

describe('a pod that was deleted, stateless', () => {
  const alone = buildPod({ uid: 'pod-2', name: 'web-0', podIPs: [] });
  test.each<Case>([
    { name: 'long ago, on a node that is well: free', evidence: {}, verdict: free('pod-gone') },
    { name: 'just now: after a minute', evidence: { goneSinceMs: NOW_MS }, verdict: keep('settling', 60_000) },
    { name: '59 s ago: not yet', evidence: { goneSinceMs: secondsAgo(59) }, verdict: keep('settling', 1_000) },
    { name: '60 s ago: free', evidence: { goneSinceMs: secondsAgo(60) }, verdict: free('pod-gone') },
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
      name: 'and a new one of its name has another uid: free',
      evidence: { pod: alone, goneSinceMs: secondsAgo(61) },
      verdict: free('pod-gone'),
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
      record: buildPodRecord({}, { state: 'Suspect' }),
      evidence: { node: NODE_NOT_READY },
      verdict: keep('node-away'),
    },
    {
      name: 'and already suspect, node well again: free',
      record: buildPodRecord({}, { state: 'Suspect' }),
      evidence: {},
      verdict: free('pod-gone'),
    },
    {
      name: 'of a set of another maker than Kubernetes: as any other',
      record: buildPodRecord({ owner: { apiVersion: 'apps.kruise.io/v1beta1', kind: 'StatefulSet', name: 'web' } }),
      evidence: {},
      verdict: free('pod-gone'),
    },
  ])('$name', check);
});

describe('a pod that is Terminating', () => {
  const overdue = { deletesAtMs: WALL_MS - 60_000 };
  const ended = { haveAllEnded: true, isAnyRunning: false };
  test.each<Case>([
    {
      name: 'before its deadline: kept until then, the grace counted once',
      evidence: { pod: buildPod({ deletesAtMs: WALL_MS + 30_000 }) },
      verdict: keep('within-grace', 30_000),
    },
    {
      name: 'before its deadline without an address in its status: kept too',
      evidence: { pod: buildPod({ deletesAtMs: WALL_MS + 30_000, podIPs: [] }) },
      verdict: keep('within-grace', 30_000),
    },
    {
      name: 'past it on a Ready node, all containers ended: free',
      evidence: { pod: buildPod({ ...overdue, ...ended }) },
      verdict: free('pod-terminating'),
    },
    {
      name: 'past it with an additional delay: kept',
      evidence: { pod: buildPod({ ...overdue, ...ended }) },
      settings: { additionalDelayMs: 65_000 },
      verdict: keep('within-grace', 5_000),
    },
    {
      name: 'just past it, a container still running: it is being killed, wait a minute',
      evidence: { pod: buildPod({ deletesAtMs: WALL_MS - 1_000 }) },
      verdict: keep('within-grace', 59_000),
    },
    {
      name: 'just past it, all containers ended: free',
      evidence: { pod: buildPod({ ...ended, deletesAtMs: WALL_MS - 1_000 }) },
      verdict: free('pod-terminating'),
    },
    {
      name: 'past it on a Ready node, a container still running: suspect',
      evidence: { pod: buildPod(overdue) },
      verdict: suspect('pod-terminating'),
    },
    {
      name: 'past it on a Ready node, nothing known of its containers: suspect',
      evidence: { pod: buildPod({ ...overdue, isAnyRunning: false }) },
      verdict: suspect('pod-terminating'),
    },
    {
      name: 'past it on a Ready node, switched off: kept',
      evidence: { pod: buildPod({ ...overdue, ...ended }) },
      settings: { collectsOnReadyNodes: false },
      verdict: keep('switched-off'),
    },
    {
      name: 'past it on a node that is not Ready: suspect, whatever was said of its containers',
      evidence: { pod: buildPod({ ...overdue, ...ended }), node: NODE_NOT_READY },
      verdict: suspect('pod-terminating'),
    },
    {
      name: 'past it on a node that is not Ready, switched off: kept',
      evidence: { pod: buildPod(overdue), node: NODE_NOT_READY },
      settings: { collectsOnNotReadyNodes: false },
      verdict: keep('switched-off'),
    },
    {
      name: 'past it with its node gone: free',
      evidence: { pod: buildPod(overdue), node: nodeGoneFor(301) },
      verdict: free('pod-terminating'),
    },
    {
      name: 'past it with its node out of service: free',
      evidence: { pod: buildPod(overdue), node: NODE_OUT_OF_SERVICE },
      verdict: free('pod-terminating'),
    },
    {
      name: 'with grace 0: past it at once, and given the same minute',
      evidence: { pod: buildPod({ deletesAtMs: WALL_MS, graceSeconds: 0 }) },
      verdict: keep('within-grace', 60_000),
    },
    {
      name: 'and Pending: never',
      evidence: { pod: buildPod({ ...overdue, phase: 'Pending' }), node: nodeGoneFor(900) },
      verdict: keep('pod-pending'),
    },
  ])('$name', check);
});

describe('a pod that finished', () => {
  const done = { isAnyRunning: false, haveAllEnded: true, finishedAtMs: WALL_MS - 90_000 };
  test.each<Case>([
    {
      name: 'Succeeded, its grace over: free',
      evidence: { pod: buildPod({ ...done, phase: 'Succeeded' }) },
      verdict: free('pod-finished'),
    },
    {
      name: 'Failed, its grace over: free',
      evidence: { pod: buildPod({ ...done, phase: 'Failed' }) },
      verdict: free('pod-finished'),
    },
    {
      name: 'within its grace: kept',
      evidence: { pod: buildPod({ ...done, phase: 'Succeeded', finishedAtMs: WALL_MS - 10_000 }) },
      verdict: keep('within-grace', 20_000),
    },
    {
      name: 'without finish times, as one evicted before it started: free after the grace since it was seen so',
      evidence: {
        pod: buildPod({ phase: 'Failed', isAnyRunning: false }),
        finishedSinceMs: secondsAgo(31),
      },
      verdict: free('pod-finished'),
    },
    {
      name: 'without finish times, just seen: kept for its grace',
      evidence: { pod: buildPod({ phase: 'Failed', isAnyRunning: false }), finishedSinceMs: NOW_MS },
      verdict: keep('within-grace', 30_000),
    },
    {
      name: 'with an additional delay: kept that much longer',
      evidence: { pod: buildPod({ ...done, phase: 'Succeeded' }) },
      settings: { additionalDelayMs: 65_000 },
      verdict: keep('within-grace', 5_000),
    },
    {
      name: 'on a node that is not Ready: suspect',
      evidence: { pod: buildPod({ ...done, phase: 'Failed' }), node: NODE_NOT_READY },
      verdict: suspect('pod-finished'),
    },
    {
      name: 'Failed, by hand, while a container runs: suspect',
      evidence: { pod: buildPod({ ...done, phase: 'Failed', isAnyRunning: true }) },
      verdict: suspect('pod-finished'),
    },
  ])('$name', check);
});

describe('a pod that lives', () => {
  test.each<Case>([
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
  ])('$name', check);

  const pod = buildPod();
  const again: Verdict = { do: 'allocate-again', cause: 'edited-by-hand', pod };
  test.each<Case>([
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
    check({ ...row, evidence: { pod, claimants: [pod], ...row.evidence } });
  });

  test.each<Case>([
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
      name: 'one that is being deleted has it: left',
      record: buildPodRecord({ uid: 'gone' }),
      evidence: { claimants: [buildPod({ deletesAtMs: WALL_MS + 600_000 })] },
      verdict: keep('address-in-use'),
    },
  ])('$name', check);
});

describe('a pod of a StatefulSet', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
  const record = buildPodRecord({ owner });
  const retained = buildPodRecord({ owner }, { state: 'Retained' });
  const proven = (() => {
    const { uid: _uid, containerID: _containerID, netns: _netns, ...holder } = retained.spec.holder;
    return { ...retained, spec: { ...retained.spec, holder } };
  })();
  const reborn = buildPod({ uid: 'pod-2', podIPs: ['10.0.0.9'], controller: STATEFUL_SET });
  test.each<Case>([
    { name: 'deleted: its set is asked', record, evidence: {}, verdict: { do: 'ask-live', what: 'stateful-set' } },
    {
      name: 'restarted by its set: retained at once',
      record,
      evidence: { owner: 'valid', goneSinceMs: NOW_MS },
      verdict: retain(false),
    },
    {
      name: 'restarted by its set, node not Ready: retained, never suspect',
      record,
      evidence: { owner: 'valid', node: NODE_NOT_READY },
      verdict: retain(false),
    },
    {
      name: 'reborn with another uid: retained',
      record,
      evidence: { owner: 'valid', pod: reborn },
      verdict: retain(false),
    },
    {
      name: 'whose node is gone: retained, and proven',
      record,
      evidence: { owner: 'valid', node: nodeGoneFor(400) },
      verdict: retain(true),
    },
    { name: 'scaled away or its set deleted: free', record, evidence: { owner: 'invalid' }, verdict: free('pod-gone') },
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
      verdict: keep('holder-kind-not-served'),
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
      name: 'Failed, its set gone: free',
      record,
      evidence: {
        owner: 'invalid',
        pod: buildPod({ phase: 'Failed', isAnyRunning: false, finishedAtMs: WALL_MS - 60_000 }),
      },
      verdict: free('pod-finished'),
    },
    {
      name: 'retained, its set waits: kept',
      record: retained,
      evidence: { owner: 'valid' },
      verdict: keep('retained'),
    },
    {
      name: 'retained, its set gone: free',
      record: retained,
      evidence: { owner: 'invalid' },
      verdict: free('pod-gone'),
    },
    {
      name: 'retained on weak evidence, its set gone: kept while the node is away',
      record: retained,
      evidence: { owner: 'invalid', node: NODE_NOT_READY },
      verdict: keep('node-away'),
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
      name: 'running again for 5 min without it: free',
      record: retained,
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300) },
      verdict: free('not-taken'),
    },
    {
      name: 'running again for 5 min without it, the old node away: kept',
      record: retained,
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300), node: NODE_NOT_READY },
      verdict: keep('node-away'),
    },
    {
      name: 'Suspect from when its set was away, and runs again without it for 5 min: free',
      record: buildPodRecord({ owner }, { state: 'Suspect' }),
      evidence: { owner: 'valid', pod: reborn, idleSinceMs: secondsAgo(300) },
      verdict: free('not-taken'),
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
      verdict: free('pod-gone'),
    },
  ])('$name', check);
});

describe('a virtual machine', () => {
  const record = buildPodRecord({ kind: 'VirtualMachineInstance', name: 'vm', uid: 'source' });
  const retained = { ...record, spec: { ...record.spec, state: 'Retained' as const } };
  const controller = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'vmi-1' };
  const source = buildPod({ name: 'virt-launcher-vm-a', uid: 'source', controller, podIPs: [] });
  const target = buildPod({ name: 'virt-launcher-vm-b', uid: 'target', node: 'worker-2', controller, podIPs: [] });
  const ended = { ...source, phase: 'Succeeded', isAnyRunning: false };
  test.each<Case>([
    { name: 'running: kept', record, evidence: { launchers: [source] }, verdict: keep('pod-alive') },
    { name: 'migrating: kept', record, evidence: { launchers: [source, target] }, verdict: keep('pod-alive') },
    { name: 'without launcher: asked for', record, evidence: {}, verdict: { do: 'ask-live', what: 'machine' } },
    {
      name: 'migrated, the source finished: the target has it now',
      record,
      evidence: { owner: 'valid', launchers: [ended, target] },
      verdict: { do: 'allocate-again', cause: 'migrated', pod: target },
    },
    {
      name: 'migrated, the source gone: the target has it now',
      record,
      evidence: { owner: 'valid', launchers: [target] },
      verdict: { do: 'allocate-again', cause: 'migrated', pod: target },
    },
    { name: 'restarting: retained', record, evidence: { owner: 'valid' }, verdict: retain(false) },
    {
      name: 'restarting, its new launcher Pending: retained',
      record,
      evidence: { owner: 'valid', launchers: [{ ...target, phase: 'Pending' }] },
      verdict: retain(false),
    },
    { name: 'stopped, its VM there: kept', record: retained, evidence: { owner: 'valid' }, verdict: keep('retained') },
    { name: 'deleted, no launcher left: free', record, evidence: { owner: 'invalid' }, verdict: free('pod-gone') },
    {
      name: 'deleted a moment ago: after a minute',
      record: retained,
      evidence: { owner: 'invalid', ownerAbsentSinceMs: NOW_MS },
      verdict: keep('settling', 60_000),
    },
    {
      name: 'deleted, a launcher left: kept',
      record,
      evidence: { owner: 'invalid', launchers: [ended] },
      verdict: keep('launcher-there'),
    },
    {
      name: 'deleted, its node away: suspect',
      record,
      evidence: { owner: 'invalid', node: NODE_NOT_READY },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'whose kind is not served: kept',
      record,
      evidence: { owner: 'not-served' },
      verdict: keep('holder-kind-not-served'),
    },
  ])('$name', check);
});

describe('a record that rests', () => {
  const cooling = (until: string) => buildPodRecord({}, { state: 'Cooling', until });
  test.each<Case>([
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
  ])('$name', check);
});

describe('what is judged elsewhere', () => {
  test.each(['Container', 'IPAddressClaim', 'IPAllocation'] as const)('a holder of kind %s', (kind) => {
    const record = buildRecord({ holder: { kind, node: '' } });
    check({ name: kind, record, evidence: { node: NODE_HERE }, verdict: keep('not-judged-here') });
  });
});
