import { describe, expect, test } from 'vitest';
import type { NodePod } from '#agent/sources/pods.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { type FailureKind, failure } from '#pkg/kube/objects/outcome.ts';
import type { Controller } from '#pkg/pool/request.ts';
import { turnedClock } from '#test/support/turned-clock.ts';
import { OwnerVerifier } from './owner-verifier.ts';

const SET: Controller = { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: 'prod', name: 'web', uid: 's-1' };
const VMI: Controller = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  namespace: 'prod',
  name: 'vm',
  uid: 'v-1',
};
const JOB = 'kubevirt.io/migrationJobName';
const JOB_UID = 'kubevirt.io/migrationJobUID';

const podOf = (controller: Controller, more: Partial<NodePod> = {}): NodePod => ({
  namespace: 'prod',
  name: 'web-0',
  uid: 'p-1',
  resourceVersion: '1',
  node: 'worker-1',
  labels: {},
  annotations: {},
  controller,
  isAlive: true,
  hadSandbox: false,
  ...more,
});

interface Stored {
  readonly uid: string;
  readonly isDeleted?: boolean;
  readonly spec?: object;
  readonly status?: object;
}

/** `plural/name` of what is there; or how every read fails. */
type World = Readonly<Record<string, Stored>> | FailureKind;

function objectOf({ uid, isDeleted = false, ...rest }: Stored): KubeObject {
  const deleted = isDeleted ? { deletionTimestamp: '2026-11-16T10:00:00Z' } : {};
  return { metadata: { name: 'x', uid, resourceVersion: '1', ...deleted }, ...rest };
}

function setUp(world: World, switches = { enableStatefulSet: true, enableKubevirtStaticIP: true }) {
  const clock = turnedClock();
  const state = { world, reads: [] as string[] };
  const verifier = new OwnerVerifier(
    async ({ plural }, { namespace, name }) => {
      state.reads.push(`${plural}/${name}`);
      if (typeof state.world === 'string') return failure(state.world, 'so it was said');
      const found = namespace === 'prod' ? state.world[`${plural}/${name}`] : undefined;
      return found === undefined ? failure('NotFound', 'not found') : { ok: true, object: objectOf(found) };
    },
    switches,
    clock.nowMs,
  );
  return { state, clock, verifier };
}

const WEB_3 = { 'statefulsets/web': { uid: 's-1', spec: { replicas: 3 } } };

describe('a pod of a StatefulSet is sticky if the set', () => {
  test.each<{ name: string; world: World; pod?: Partial<NodePod>; because: string | null }>([
    { name: 'wants its ordinal', world: WEB_3, because: null },
    { name: 'wants its ordinal, the last', world: WEB_3, pod: { name: 'web-2' }, because: null },
    {
      name: 'not beyond the last',
      world: WEB_3,
      pod: { name: 'web-3' },
      because: 'StatefulSet prod/web wants ordinals 0 to 2, not web-3',
    },
    {
      name: 'not below the first',
      world: { 'statefulsets/web': { uid: 's-1', spec: { replicas: 3, ordinals: { start: 5 } } } },
      because: 'StatefulSet prod/web wants ordinals 5 to 7, not web-0',
    },
    {
      name: 'not if it is scaled to zero',
      world: { 'statefulsets/web': { uid: 's-1', spec: { replicas: 0 } } },
      because: 'StatefulSet prod/web wants no pod, not web-0',
    },
    {
      name: 'is being deleted: its pods may be orphaned, and the next set of the name adopts them',
      world: { 'statefulsets/web': { uid: 's-1', isDeleted: true, spec: { replicas: 3 } } },
      because: null,
    },
    { name: 'not if there is none', world: {}, because: 'there is no StatefulSet prod/web' },
    {
      name: 'not if it is another of the same name',
      world: { 'statefulsets/web': { uid: 's-2', spec: { replicas: 3 } } },
      because: 'StatefulSet prod/web has UID s-2, and the pod names s-1',
    },
    {
      name: 'not if a ReplicaSet in between says so',
      world: WEB_3,
      pod: { controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'r-1' } },
      because: 'StatefulSet prod/web does not control the pod itself',
    },
  ])('$name', async ({ world, pod, because }) => {
    const { verifier } = setUp(world);
    const { sticky, owner, refused, vmi } = await verifier.verify(podOf(SET, pod), SET);
    expect([sticky, vmi]).toEqual([because === null, null]);
    expect(owner?.uid).toBe(because === null ? 's-1' : undefined);
    expect(refused).toEqual(because === null ? [] : [expect.stringContaining(`does not count: ${because};`)]);
  });
});

describe('a launcher pod is sticky if its VMI', () => {
  const THERE = { 'virtualmachineinstances/vm': { uid: 'v-1' } };

  test.each<{ name: string; world: World; top?: Controller; because: string | null }>([
    { name: 'is there', world: THERE, because: null },
    { name: 'not if there is none', world: {}, because: 'there is no VirtualMachineInstance prod/vm' },
    {
      name: 'not where KubeVirt is not served',
      world: 'NotServed',
      because: 'the API server does not serve VirtualMachineInstance prod/vm',
    },
    {
      name: 'not if it is another of the same name',
      world: { 'virtualmachineinstances/vm': { uid: 'v-2' } },
      because: 'VirtualMachineInstance prod/vm has UID v-2, and the pod names v-1',
    },
    {
      name: 'not if it is being deleted',
      world: { 'virtualmachineinstances/vm': { uid: 'v-1', isDeleted: true } },
      because: 'VirtualMachineInstance prod/vm is being deleted',
    },
    { name: 'not if it is a path', world: THERE, top: { ...VMI, name: '..' }, because: 'its name ".." is not' },
  ])('$name', async ({ world, top = VMI, because }) => {
    const { verifier } = setUp(world);
    const standing = await verifier.verify(podOf(top), top);
    expect(standing).toMatchObject({ sticky: because === null, isMigrationTarget: false });
    expect(standing.vmi).toBe(because === null ? 'vm' : null);
    expect(standing.refused).toEqual(because === null ? [] : [expect.stringContaining(because)]);
  });

  const MIGRATION = { uid: 'm-1', spec: { vmiName: 'vm' }, status: { phase: 'Scheduling' } };
  const job = (stored: Stored, vmi: Stored = { uid: 'v-1' }): World => ({
    'virtualmachineinstances/vm': vmi,
    'virtualmachineinstancemigrations/job-1': stored,
  });
  const handedTo = (targetPod: string, migrationUid = 'm-1') => ({
    uid: 'v-1',
    status: { migrationState: { migrationUid, targetPod } },
  });

  test.each<{ name: string; world: World; pod?: Partial<NodePod>; because: string | null }>([
    { name: 'a migration that runs', world: job(MIGRATION), because: null },
    { name: 'one that has not begun', world: job({ ...MIGRATION, status: {} }), because: null },
    { name: 'one of that UID', world: job(MIGRATION), pod: { labels: { [JOB_UID]: 'm-1' } }, because: null },
    { name: 'one that was handed to this pod', world: job(MIGRATION, handedTo('web-0')), because: null },
    { name: 'where the VMI tells of one before', world: job(MIGRATION, handedTo('old', 'm-0')), because: null },
    { name: 'not without it', world: THERE, because: 'there is no VirtualMachineInstanceMigration prod/job-1' },
    {
      name: 'not of another VMI',
      world: job({ ...MIGRATION, spec: { vmiName: 'other' } }),
      because: 'it migrates other, not vm',
    },
    {
      name: 'not if it is over',
      world: job({ ...MIGRATION, status: { phase: 'Succeeded' } }),
      because: 'it is over (Succeeded)',
    },
    {
      name: 'not if it failed',
      world: job({ ...MIGRATION, status: { phase: 'Failed' } }),
      because: 'it is over (Failed)',
    },
    {
      name: 'not of another UID',
      world: job(MIGRATION),
      pod: { labels: { [JOB_UID]: 'm-2' } },
      because: 'it has UID m-1, and the pod names m-2',
    },
    { name: 'not if it goes elsewhere', world: job(MIGRATION, handedTo('real')), because: 'its target is pod real' },
    { name: 'not by a path', world: THERE, pod: { annotations: { [JOB]: '../x' } }, because: 'it names no object' },
  ])('a pod is the target of $name', async ({ world, pod, because }) => {
    const { verifier } = setUp(world);
    const target = podOf(VMI, { annotations: { [JOB]: 'job-1' }, ...pod });
    const standing = await verifier.verify(target, VMI);
    expect(standing).toMatchObject({ sticky: true, vmi: 'vm', isMigrationTarget: because === null });
    expect(standing.refused).toEqual(because === null ? [] : [expect.stringContaining(because)]);
  });

  test('a forged launcher with a mark is a plain pod, and no migration is read for it', async () => {
    const { verifier, state } = setUp(job(MIGRATION, { uid: 'v-2' }));
    const target = podOf(VMI, { annotations: { [JOB]: 'job-1' } });
    expect(await verifier.verify(target, VMI)).toMatchObject({ sticky: false, vmi: null, isMigrationTarget: false });
    expect(state.reads).toEqual(['virtualmachineinstances/vm']);
  });
});

describe('an answer that is neither yes nor no is an error that may be retried', () => {
  const kinds: FailureKind[] = [
    'Forbidden',
    'Unauthorized',
    'ServerError',
    'Unknown',
    'Unreachable',
    'TooManyRequests',
  ];

  test.each(kinds)('%s', async (kind) => {
    for (const top of [SET, VMI]) {
      const { verifier } = setUp(kind);
      await expect(verifier.verify(podOf(top), top)).rejects.toMatchObject({
        reason: 'api-server-unavailable',
        message: expect.stringContaining(`cannot verify ${top.kind} prod/${top.name}`),
      });
    }
  });

  test('a missing right names the file that has it', async () => {
    const { verifier } = setUp('Forbidden');
    await expect(verifier.verify(podOf(SET), SET)).rejects.toThrow('deploy/rbac.yaml');
  });
});

describe('reads', () => {
  test.each<{ name: string; top: Controller; pod?: Partial<NodePod> }>([
    { name: 'a pod of a Deployment', top: { ...SET, kind: 'Deployment' } },
    { name: 'a pod of a StatefulSet of another group', top: { ...SET, apiVersion: 'apps.kruise.io/v1beta1' } },
    { name: 'a pod without an ordinal', top: SET, pod: { name: 'web-x' } },
    { name: 'a VMI of another group', top: { ...VMI, apiVersion: 'example.com/v1' } },
  ])('$name costs none', async ({ top, pod }) => {
    const { verifier, state } = setUp('ServerError');
    const standing = await verifier.verify(podOf(top, pod), top);
    expect(standing).not.toHaveProperty('sticky');
    expect(state.reads).toEqual([]);
  });

  test('switched off, they cost none either', async () => {
    const { verifier, state } = setUp('ServerError', { enableStatefulSet: false, enableKubevirtStaticIP: false });
    for (const top of [SET, VMI]) expect(await verifier.verify(podOf(top), top)).not.toHaveProperty('sticky');
    expect(state.reads).toEqual([]);
  });

  test('the pods of one set share one for ten seconds', async () => {
    const { verifier, state, clock } = setUp(WEB_3);
    await Promise.all(['web-0', 'web-1', 'web-2'].map((name) => verifier.verify(podOf(SET, { name }), SET)));
    expect(state.reads).toHaveLength(1);
    clock.turn(10_000);
    await verifier.verify(podOf(SET), SET);
    expect(state.reads).toHaveLength(2);
  });

  test('a set that was scaled up since it was read is read again before its new pod hears no', async () => {
    const { verifier, state } = setUp(WEB_3);
    await verifier.verify(podOf(SET), SET);
    state.world = { 'statefulsets/web': { uid: 's-1', spec: { replicas: 9 } } };
    expect(await verifier.verify(podOf(SET, { name: 'web-8' }), SET)).toMatchObject({ sticky: true });
    expect(state.reads).toHaveLength(2);
  });

  test('a VMI is read for each of its launchers: what was so a moment ago may be over', async () => {
    const { verifier, state } = setUp({ 'virtualmachineinstances/vm': { uid: 'v-1' } });
    expect(await verifier.verify(podOf(VMI), VMI)).toMatchObject({ sticky: true });
    state.world = {};
    expect(await verifier.verify(podOf(VMI), VMI)).toMatchObject({ sticky: false, vmi: null });
  });

  test('a wrong uid does not spoil what others are told', async () => {
    const { verifier } = setUp(WEB_3);
    const forged = { ...SET, uid: 'forged' };
    expect(await verifier.verify(podOf(forged), forged)).toMatchObject({ sticky: false });
    expect(await verifier.verify(podOf(SET), SET)).toMatchObject({ sticky: true });
  });
});
