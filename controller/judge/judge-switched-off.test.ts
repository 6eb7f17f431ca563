import { test } from 'vitest';
import { toRetained } from '#pkg/record/released-spec.ts';
import { buildPod, buildPodRecord, nodeGoneFor, STATEFUL_SET } from '#test/support/build-evidence.ts';
import { checkVerdict, free, type JudgeCase, retain } from '#test/support/judge-case.ts';
import { keep } from './verdict.ts';

const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };
const ofSet = buildPodRecord({ owner });
const reborn = buildPod({ uid: 'pod-2', podIPs: [], controller: STATEFUL_SET });
const machine = buildPodRecord({ kind: 'VirtualMachineInstance', name: 'vm', uid: 'source' });
const launcher = buildPod({
  name: 'virt-launcher-vm-b',
  uid: 'target',
  node: 'worker-2',
  podIPs: [],
  controller: { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'vmi-1' },
});

test.each<JudgeCase>([
  { name: 'the pod is gone: kept', evidence: {}, verdict: keep('switched-off') },
  {
    name: 'the pod is gone by the watches: not even read',
    evidence: { goneSinceMs: null },
    verdict: keep('switched-off'),
  },
  { name: 'the node is lost: kept', evidence: { node: nodeGoneFor(900) }, verdict: keep('switched-off') },
  {
    name: 'a Retained record that its set does not want: kept',
    record: { ...ofSet, spec: toRetained(ofSet.spec) },
    evidence: { owner: 'invalid' },
    verdict: keep('switched-off'),
  },
  {
    name: 'a pod of a StatefulSet is gone and not there again: kept',
    record: ofSet,
    evidence: { owner: 'valid' },
    verdict: keep('switched-off'),
  },
  {
    name: 'a pod of a StatefulSet is there again: retained for it',
    record: ofSet,
    evidence: { owner: 'valid', pod: reborn },
    verdict: retain('in-doubt', 'for-next'),
  },
  {
    name: 'a VMI has migrated: followed',
    record: machine,
    evidence: { owner: 'valid', launchers: [launcher] },
    verdict: { do: 'allocate-again', cause: 'migrated', pod: launcher },
  },
  {
    name: 'a rest is over: free',
    record: buildPodRecord({}, { state: 'Cooling', until: '2026-11-16T11:00:00Z' }),
    evidence: {},
    verdict: free('cooled'),
  },
  {
    name: 'a quarantine is over: free',
    record: buildPodRecord({ kind: 'Conflict' }, { state: 'Quarantined', until: '2026-11-16T11:00:00Z' }),
    evidence: {},
    verdict: free('quarantine-over'),
  },
  {
    name: 'a record was edited by hand: put right',
    record: buildPodRecord({ uid: 'edited' }),
    evidence: { pod: buildPod(), claimants: [buildPod()] },
    verdict: { do: 'allocate-again', cause: 'edited-by-hand', pod: buildPod() },
  },
])('with collection switched off, $name', (row) => {
  checkVerdict({ ...row, settings: { isEnabled: false } });
});
