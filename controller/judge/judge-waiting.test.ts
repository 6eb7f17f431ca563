import { describe, expect, test } from 'vitest';
import { toRetained } from '#pkg/record/released-spec.ts';
import { buildEvidence, buildPod, buildPodRecord, nodeGoneFor, STATEFUL_SET } from '#test/support/build-evidence.ts';
import { checkVerdict, free, type JudgeCase, secondsAgo, suspect } from '#test/support/judge-case.ts';
import { COLLECT_DEFAULTS } from './collect-settings.ts';
import { judge } from './judge.ts';
import { keep } from './verdict.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: STATEFUL_SET.uid };
const VMI = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'v-1' };
const POD_RECORD = buildPodRecord({ owner: OWNER, sticky: true });
const VMI_RECORD = buildPodRecord({ kind: 'VirtualMachineInstance', name: 'vm', owner: VMI, sticky: true });
const PROVEN = { ...POD_RECORD, spec: toRetained(POD_RECORD.spec) };
const IN_DOUBT = { ...POD_RECORD, spec: { ...POD_RECORD.spec, state: 'Retained' as const } };
const MACHINE = { ...VMI_RECORD, spec: toRetained(VMI_RECORD.spec) };
const LATELY = { firstSeenMs: secondsAgo(600) };

describe('while no pod is there', () => {
  test.each<JudgeCase>([
    {
      name: 'the owner is asked again, because it may go after its pod',
      record: PROVEN,
      evidence: { owner: 'valid', firstSeenMs: secondsAgo(20) },
      verdict: keep('retained', 40_000),
    },
    {
      name: 'and again after a longer pause',
      record: PROVEN,
      evidence: { owner: 'valid', firstSeenMs: secondsAgo(60) },
      verdict: keep('retained', 60_000),
    },
    {
      name: 'and once more after a pause of minutes',
      record: PROVEN,
      evidence: { owner: 'valid', firstSeenMs: secondsAgo(300) },
      verdict: keep('retained', 180_000),
    },
    {
      name: 'and then only by sweeps',
      record: PROVEN,
      evidence: { owner: 'valid', firstSeenMs: secondsAgo(480) },
      verdict: keep('retained'),
    },
  ])('$name', checkVerdict);
});

describe('beyond the bounds', () => {
  test.each<JudgeCase>([
    {
      name: 'the last that the namespace may keep stays for ever',
      record: PROVEN,
      evidence: { owner: 'valid', retainedBefore: 999 },
      verdict: keep('retained'),
    },
    {
      name: 'one more is kept for a while',
      record: PROVEN,
      evidence: { owner: 'valid', retainedBefore: 1_000, ...LATELY },
      verdict: keep('beyond-bounds', 300_000),
    },
    {
      name: 'and freed after 15 minutes',
      record: PROVEN,
      evidence: { owner: 'valid', retainedBefore: 1_000 },
      verdict: free('beyond-bounds'),
    },
    {
      name: 'a machine as well',
      record: MACHINE,
      evidence: { owner: 'valid', retainedBefore: 1_000 },
      verdict: free('beyond-bounds'),
    },
    {
      name: 'the setting decides',
      record: PROVEN,
      evidence: { owner: 'valid', retainedBefore: 1_000 },
      settings: { retainedPerNamespace: 2_000 },
      verdict: keep('retained'),
    },
    {
      name: 'one whose holder has had another address since',
      record: PROVEN,
      evidence: { owner: 'valid', isSuperseded: true },
      verdict: free('beyond-bounds'),
    },
    {
      name: 'in doubt it is not freed, but may be taken with a probe',
      record: IN_DOUBT,
      evidence: { owner: 'valid', retainedBefore: 1_000 },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'in doubt on a lost node it is freed',
      record: IN_DOUBT,
      evidence: { owner: 'valid', retainedBefore: 1_000, node: nodeGoneFor(900) },
      verdict: free('node-gone'),
    },
    {
      name: 'what its running pod leaves is looked at as soon as without a bound',
      record: PROVEN,
      evidence: { owner: 'valid', isSuperseded: true, ...LATELY, idleSinceMs: secondsAgo(100) },
      verdict: keep('beyond-bounds', 200_000),
    },
    {
      name: 'what is in use has no bound',
      record: POD_RECORD,
      evidence: { owner: 'valid', pod: buildPod(), retainedBefore: 5_000 },
      verdict: keep('pod-alive'),
    },
  ])('$name', checkVerdict);
});

describe('an owner of a kind that is not served', () => {
  test.each<JudgeCase>([
    {
      name: 'for a while: kept',
      record: MACHINE,
      evidence: { owner: 'not-served', notServedSinceMs: secondsAgo(600) },
      verdict: keep('holder-kind-not-served', 300_000),
    },
    {
      name: 'for 15 minutes: freed, if the sandbox is proven to be gone',
      record: MACHINE,
      evidence: { owner: 'not-served', notServedSinceMs: secondsAgo(900) },
      verdict: free('kind-not-served'),
    },
    {
      name: 'for 15 minutes, in doubt: Suspect',
      record: IN_DOUBT,
      evidence: { owner: 'not-served', notServedSinceMs: secondsAgo(900) },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'while a launcher of it is there: kept',
      record: MACHINE,
      evidence: {
        owner: 'not-served',
        notServedSinceMs: secondsAgo(900),
        launchers: [buildPod({ uid: 'pod-2', controller: VMI })],
      },
      verdict: keep('launcher-there'),
    },
  ])('$name', checkVerdict);
});

describe('a pod that names the VMI of a record, but not its uid,', () => {
  const forged = buildPod({ uid: 'pod-9', controller: { ...VMI, uid: 'forged' }, isMigrationTarget: true });

  test('does not get the record of a stopped machine, marked as a migration target or not', () => {
    const verdict = judge(MACHINE, buildEvidence({ owner: 'valid', launchers: [forged] }), COLLECT_DEFAULTS);
    expect(verdict).toEqual(keep('retained'));
  });

  test('does not keep the record of a machine that is gone', () => {
    const verdict = judge(MACHINE, buildEvidence({ owner: 'invalid', launchers: [forged] }), COLLECT_DEFAULTS);
    expect(verdict).toEqual(free('pod-gone'));
  });

  test('is not what a running machine has migrated to', () => {
    const verdict = judge(VMI_RECORD, buildEvidence({ owner: 'valid', launchers: [forged] }), COLLECT_DEFAULTS);
    expect(verdict).toMatchObject({ do: 'retain' });
  });
});
