import { describe, test } from 'vitest';
import { toRetained } from '#pkg/record/released-spec.ts';
import { buildPod, buildPodRecord, NODE_NOT_READY, NOW_MS, nodeGoneFor } from '#test/support/build-evidence.ts';
import { checkVerdict, free, type JudgeCase, retain, secondsAgo, suspect } from '#test/support/judge-case.ts';
import { keep } from './verdict.ts';

describe('a VMI', () => {
  const record = buildPodRecord({ kind: 'VirtualMachineInstance', name: 'vm', uid: 'source' });
  const retained = { ...record, spec: { ...record.spec, state: 'Retained' as const } };
  const suspected = { ...record, spec: { ...record.spec, state: 'Suspect' as const } };
  const controller = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'vmi-1' };
  const source = buildPod({ name: 'virt-launcher-vm-a', uid: 'source', controller, podIPs: [] });
  const target = buildPod({ name: 'virt-launcher-vm-b', uid: 'target', node: 'worker-2', controller, podIPs: [] });
  const migrated = { ...target, isMigrationTarget: true };
  const next = { ...migrated, name: 'virt-launcher-vm-c', uid: 'next', node: 'worker-3' };
  const proven = { ...record, spec: toRetained(record.spec) };
  const ended = { ...source, phase: 'Succeeded', isAnyRunning: false };
  test.each<JudgeCase>([
    { name: 'running: kept', record, evidence: { launchers: [source] }, verdict: keep('pod-alive') },
    { name: 'migrating: kept', record, evidence: { launchers: [source, target] }, verdict: keep('pod-alive') },
    { name: 'without launcher: asked for', record, evidence: {}, verdict: { do: 'read-owner', what: 'vmi' } },
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
    {
      name: 'migrated, and the DEL of the source retained its address: the target has it now',
      record: proven,
      evidence: { owner: 'valid', launchers: [ended, migrated], idleSinceMs: secondsAgo(1) },
      verdict: { do: 'allocate-again', cause: 'migrated', pod: migrated },
    },
    {
      name: 'migrated and retained for long: the target has it still',
      record: proven,
      evidence: { owner: 'valid', launchers: [migrated], idleSinceMs: secondsAgo(900) },
      verdict: { do: 'allocate-again', cause: 'migrated', pod: migrated },
    },
    {
      name: 'migrated, retained without proof: the target has it',
      record: retained,
      evidence: { owner: 'valid', launchers: [migrated], idleSinceMs: secondsAgo(900) },
      verdict: { do: 'allocate-again', cause: 'migrated', pod: migrated },
    },
    {
      name: 'migrated and migrating again, its address retained: kept until one launcher is left',
      record: proven,
      evidence: { owner: 'valid', launchers: [migrated, next], idleSinceMs: secondsAgo(900) },
      verdict: keep('retained'),
    },
    {
      name: 'restarted, its new launcher runs without its retained address for 4 min: kept for it',
      record: proven,
      evidence: { owner: 'valid', launchers: [target], idleSinceMs: secondsAgo(240) },
      verdict: keep('retained', 60_000),
    },
    {
      name: 'restarted, its new launcher runs without its retained address for 5 min: free',
      record: proven,
      evidence: { owner: 'valid', launchers: [target], idleSinceMs: secondsAgo(300) },
      verdict: free('not-taken'),
    },
    {
      name: 'migrated, with an address suspected before: no target is answered with one, left to its agent',
      record: suspected,
      evidence: { owner: 'valid', launchers: [migrated], idleSinceMs: secondsAgo(300) },
      verdict: keep('left-to-agent'),
    },
    {
      name: 'restarted, its new launcher runs for 5 min without an address retained in doubt: suspect',
      record: retained,
      evidence: { owner: 'valid', launchers: [target], idleSinceMs: secondsAgo(300) },
      verdict: suspect('not-taken'),
    },
    { name: 'restarting: retained', record, evidence: { owner: 'valid' }, verdict: retain('in-doubt') },
    {
      name: 'restarting, its new launcher Pending: retained',
      record,
      evidence: { owner: 'valid', launchers: [{ ...target, phase: 'Pending' }] },
      verdict: retain('in-doubt', 'for-next'),
    },
    { name: 'stopped, its VM there: kept', record: retained, evidence: { owner: 'valid' }, verdict: keep('retained') },
    {
      name: 'deleted, no launcher left: suspect',
      record,
      evidence: { owner: 'invalid' },
      verdict: suspect('pod-gone'),
    },
    {
      name: 'deleted, its sandbox torn down: free',
      record: proven,
      evidence: { owner: 'invalid' },
      verdict: free('pod-gone'),
    },
    {
      name: 'deleted, no launcher left, its node lost: free',
      record,
      evidence: { owner: 'invalid', node: nodeGoneFor(300) },
      verdict: free('node-gone'),
    },
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
      name: 'suspect, made again, its new launcher has just begun to run: kept for it',
      record: suspected,
      evidence: { owner: 'valid', launchers: [target], idleSinceMs: secondsAgo(10), firstSeenMs: 0 },
      verdict: keep('retained', 290_000),
    },
    {
      name: 'suspect, made again, its new launcher runs on another address, the old node lost: free',
      record: suspected,
      evidence: {
        owner: 'valid',
        launchers: [target],
        idleSinceMs: secondsAgo(300),
        firstSeenMs: 0,
        node: nodeGoneFor(300),
      },
      verdict: free('not-taken'),
    },
    {
      name: 'suspect, made again and running on another address, the old node still away: kept',
      record: suspected,
      evidence: {
        owner: 'valid',
        launchers: [target],
        idleSinceMs: secondsAgo(300),
        firstSeenMs: 0,
        node: NODE_NOT_READY,
      },
      verdict: keep('node-away'),
    },
    {
      name: 'suspect, made again and not running yet: kept',
      record: suspected,
      evidence: { owner: 'valid' },
      verdict: keep('retained'),
    },
    {
      name: 'whose kind is not served: kept',
      record,
      evidence: { owner: 'not-served' },
      verdict: keep('holder-kind-not-served', 900_000),
    },
  ])('$name', checkVerdict);
});
