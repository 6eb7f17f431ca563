import { expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { type FailureKind, failure, type Outcome } from '#pkg/kube/objects/outcome.ts';
import { buildPodRecord } from '#test/support/build-evidence.ts';
import { type ReadLive, statefulSetValidity, vmiValidity } from './owner-validity.ts';

type Answer = FailureKind | { readonly spec?: object; readonly metadata?: object };

/** What the API server answers, by plural. */
const answering =
  (answers: Readonly<Record<string, Answer>>): ReadLive =>
  async ({ plural }, { name }): Promise<Outcome<KubeObject>> => {
    const answer = answers[plural] ?? 'NotFound';
    if (typeof answer === 'string') return failure(answer, `no ${plural}`);
    return {
      ok: true,
      object: { spec: answer.spec, metadata: { name, uid: 'u1', resourceVersion: '1', ...answer.metadata } },
    };
  };

const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' };

test.each<{ name: string; pod?: string; set: Answer; verdict: string }>([
  { name: 'in range', pod: 'web-2', set: { spec: { replicas: 3 } }, verdict: 'valid' },
  { name: 'at the end of the range', pod: 'web-3', set: { spec: { replicas: 3 } }, verdict: 'invalid' },
  { name: 'no replicas given: one', pod: 'web-0', set: { spec: {} }, verdict: 'valid' },
  { name: 'scaled to none', pod: 'web-0', set: { spec: { replicas: 0 } }, verdict: 'invalid' },
  {
    name: 'from a start ordinal',
    pod: 'web-5',
    set: { spec: { replicas: 3, ordinals: { start: 5 } } },
    verdict: 'valid',
  },
  {
    name: 'before the start ordinal',
    pod: 'web-4',
    set: { spec: { replicas: 3, ordinals: { start: 5 } } },
    verdict: 'invalid',
  },
  { name: 'a name without an ordinal', pod: 'web-x', set: { spec: { replicas: 1 } }, verdict: 'invalid' },
  { name: 'a name of another set', pod: 'other-0', set: { spec: { replicas: 1 } }, verdict: 'invalid' },
  { name: 'the set is gone', set: 'NotFound', verdict: 'invalid' },
  { name: 'the kind is not served', set: 'NotServed', verdict: 'not-served' },
])('a pod of a StatefulSet, $name: $verdict', async ({ pod = 'web-0', set, verdict }) => {
  const record = buildPodRecord({ name: pod, owner: { ...owner, uid: 'of-a-set-before' } });
  expect(await statefulSetValidity(record, answering({ statefulsets: set }))).toBe(verdict);
});

test.each<FailureKind>(['Unreachable', 'Unknown', 'ServerError', 'Forbidden', 'TooManyRequests'])(
  'an owner that cannot be read (%s) is no absent owner',
  async (because) => {
    const answers = { statefulsets: because, virtualmachineinstances: because };
    await expect(statefulSetValidity(buildPodRecord({ owner }), answering(answers))).rejects.toThrow('cannot read');
    await expect(vmiValidity(buildPodRecord(), answering(answers))).rejects.toThrow('cannot read');
    const half = { virtualmachineinstances: 'NotFound', virtualmachines: because } as const;
    await expect(vmiValidity(buildPodRecord(), answering(half))).rejects.toThrow('cannot read');
  },
);

const deleting = { deletionTimestamp: '2026-11-16T10:00:00Z' };
const byVm = { ownerReferences: [{ kind: 'VirtualMachine', name: 'web-0', controller: true }] };
test.each<{ name: string; instance: Answer; vm?: Answer; verdict: string }>([
  { name: 'running', instance: {}, verdict: 'valid' },
  { name: 'deleting, without a VM above it', instance: { metadata: deleting }, verdict: 'invalid' },
  { name: 'restarting', instance: { metadata: { ...deleting, ...byVm } }, vm: {}, verdict: 'valid' },
  { name: 'stopped', instance: 'NotFound', vm: {}, verdict: 'valid' },
  { name: 'gone with its VM', instance: 'NotFound', vm: 'NotFound', verdict: 'invalid' },
  { name: 'stopped, its VM deleting', instance: 'NotFound', vm: { metadata: deleting }, verdict: 'invalid' },
  { name: 'kind not served', instance: 'NotServed', vm: 'NotServed', verdict: 'not-served' },
  { name: 'kind of its VM not served', instance: 'NotFound', vm: 'NotServed', verdict: 'not-served' },
])('a VMI, $name: $verdict', async ({ instance, vm = 'NotFound', verdict }) => {
  const read = answering({ virtualmachineinstances: instance, virtualmachines: vm });
  expect(await vmiValidity(buildPodRecord(), read)).toBe(verdict);
});
