import { expect, test } from 'vitest';
import { toAllocated, toRetainedBy, toSuspect } from '#controller/judge/next-spec.ts';
import { toCooling, toRetained } from '#pkg/record/released-spec.ts';
import { amendProblem } from '#pkg/record/transitions.ts';
import { buildPod, buildPodRecord, STATEFUL_SET } from '#test/support/build-evidence.ts';
import { buildPool } from '#test/support/build-pool.ts';
import { draftMissing } from './missing-records.ts';

const { spec } = buildPodRecord();

test.each([
  { name: 'retained', next: toRetainedBy(spec, false) },
  { name: 'retained for sure', next: toRetainedBy(spec, true) },
  { name: 'suspected', next: toSuspect(spec) },
  { name: 'cooling', next: toCooling(spec, new Date(0)) },
])('an Allocated record may be $name', ({ next }) => {
  expect(amendProblem(spec, next)).toBeNull();
});

test('only a proof takes the traces of the sandbox away', () => {
  expect(toRetainedBy(spec, false).holder).toEqual(spec.holder);
  const { uid: _uid, containerID: _containerID, netns: _netns, ...rest } = spec.holder;
  expect(toRetainedBy(spec, true).holder).toEqual(rest);
});

test('a repair for the same pod keeps what is known of its sandbox', () => {
  const edited = { ...spec, state: 'Suspect' as const, holder: { ...spec.holder, node: 'nowhere' } };
  expect(toAllocated(edited, buildPod())).toEqual({ ...spec, holder: { ...spec.holder, attachGeneration: 2 } });
});

test('a repair for the next pod of the same name does not', () => {
  const { containerID: _containerID, netns: _netns, ...holder } = spec.holder;
  const next = toAllocated(spec, buildPod({ uid: 'pod-2', node: 'worker-2' }));
  expect(next.holder).toEqual({ ...holder, uid: 'pod-2', node: 'worker-2', attachGeneration: 2 });
});

test('a repair for another pod names that pod alone', () => {
  const next = toAllocated(
    {
      ...spec,
      state: 'Cooling',
      until: '2026-11-16T12:00:00Z',
      holder: { ...spec.holder, name: 'nobody', uid: 'nobody' },
    },
    buildPod({ controller: STATEFUL_SET }),
  );
  expect(next).not.toHaveProperty('until');
  expect(next.holder).toEqual({
    kind: 'Pod',
    namespace: 'prod',
    name: 'web-0',
    uid: 'pod-1',
    interface: 'eth0',
    node: 'worker-1',
    attachGeneration: 2,
    owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' },
  });
});

test('a name that was edited alone is put right, and the sandbox stays known', () => {
  const edited = { ...spec, holder: { ...spec.holder, name: 'edited' } };
  expect(toAllocated(edited, buildPod())).toEqual({ ...spec, holder: { ...spec.holder, attachGeneration: 2 } });
});

test('the launcher of a VMI holds in the name of the VMI', () => {
  const controller = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'u' };
  const { holder } = toAllocated(spec, buildPod({ name: 'virt-launcher-vm', uid: 'l', controller }));
  expect(holder).toMatchObject({ kind: 'VirtualMachineInstance', name: 'vm', uid: 'l' });
});

test('the target of a migration gets what was retained without a trace of the source', () => {
  const controller = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'u' };
  const vmi = { kind: 'VirtualMachineInstance', name: 'vm', uid: 'source', interface: 'net1' } as const;
  const held = buildPodRecord(vmi).spec;
  const { containerID: _containerID, netns: _netns, ...holder } = held.holder;
  const target = buildPod({ name: 'virt-launcher-vm-b', uid: 'target', node: 'worker-2', controller });
  expect(toAllocated(toRetained(held), target)).toEqual({
    ...held,
    holder: { ...holder, uid: 'target', node: 'worker-2', attachGeneration: 2 },
  });
});

const missing = { pod: buildPod(), address: '10.0.0.5' };
const none: ReadonlySet<string> = new Set();
const onNode = { nodes: new Set(['worker-1']), pools: none };
test.each([
  { name: 'one pool has it', pools: [buildPool()], served: onNode, pool: 'pool-a' },
  { name: 'no pool has it', pools: [buildPool({ subnet: '10.9.0.0/24' })], served: onNode, pool: undefined },
  { name: 'a pool has its subnet only', pools: [buildPool({ ips: ['10.0.0.9'] })], served: onNode, pool: undefined },
  {
    name: 'two domains have it',
    pools: [buildPool(), buildPool({ name: 'b', domain: 'blue' })],
    served: onNode,
    pool: undefined,
  },
  {
    name: 'the pool serves first interfaces elsewhere',
    pools: [buildPool()],
    served: { nodes: none, pools: new Set(['pool-a']) },
    pool: 'pool-a',
  },
  {
    name: 'no first interface is known to be ours, so it may be of an overlay',
    pools: [buildPool()],
    served: { nodes: none, pools: none },
    pool: undefined,
  },
])('a record that is missing, $name', ({ pools, served, pool }) => {
  expect(draftMissing(missing, pools, served)?.pool.name).toBe(pool);
});
