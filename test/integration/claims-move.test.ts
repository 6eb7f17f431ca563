import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import { CLAIMS, CLUSTERS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import type { KubeObject, Resource } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { type ClaimStage, NAMESPACE, PATIENCE, startClaimStage } from './claim-stage.ts';
import { sure } from './spider-objects.ts';

/** What `clusterctl move` does, in its order, by hand, so that each step can be looked at. clusterctl.test.ts has the mover itself. */
let stage: ClaimStage;

beforeAll(async () => {
  stage = await startClaimStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  await stage.clear();
  await stage.pool('lab', ['10.0.0.5-10.0.0.9']);
});

const patch = (kind: Resource, name: string, body: Record<string, unknown>) =>
  sure(stage.admin.patch(kind, { namespace: NAMESPACE, name }, body));
/** A claim as the mover creates it: it keeps the finalizer that it had at the source. */
const MOVED = { cluster: 'blue', metadata: { finalizers: [CLAIM_FINALIZER] } };
const pauseCluster = (paused: boolean) => patch(CLUSTERS, 'blue', { spec: { paused } });

/** The IPAddress as the mover creates it: with the uid of its claim here, without a status. */
const bringAddress = ({ metadata }: KubeObject, address: string) =>
  sure(
    stage.admin.create(IP_ADDRESSES, {
      metadata: {
        namespace: NAMESPACE,
        name: metadata.name,
        finalizers: ['ipledger.io/protect-address'],
        ownerReferences: [
          {
            apiVersion: 'ipam.cluster.x-k8s.io/v1beta2',
            kind: 'IPAddressClaim',
            name: metadata.name,
            uid: metadata.uid,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        claimRef: { name: metadata.name },
        poolRef: { apiGroup: POOLS.group, kind: POOLS.kind, name: 'lab' },
        address,
        prefix: 16,
      },
    }),
  );

test('at the target every IPAddress has its record at once, also while paused; un-paused, the claims have the same addresses', async () => {
  await using _leader = stage.lead();
  await stage.capiCluster('blue', true);
  const claims = [await stage.claim('vm-0', { cluster: 'blue' }), await stage.claim('vm-1', { cluster: 'blue' })];
  const brought = ['10.0.0.8', '10.0.0.5'];
  const addresses = await Promise.all(claims.map((claim, at) => bringAddress(claim, brought[at] ?? '')));
  await vi.waitFor(async () => expect(await stage.records()).toEqual(['10.0.0.5', '10.0.0.8']), PATIENCE);
  expect((await stage.ledger.get('10.0.0.8'))?.spec.holder).toMatchObject({
    name: 'vm-0',
    uid: claims[0]?.metadata.uid,
  });
  // Paused: neither claims nor addresses were written.
  expect((await stage.get('vm-0')).metadata.finalizers).toBeUndefined();
  expect((await stage.address('vm-0'))?.metadata.resourceVersion).toBe(addresses[0]?.metadata.resourceVersion);
  await pauseCluster(false);
  expect([await stage.served('vm-0'), await stage.served('vm-1')]).toEqual(brought);
  expect((await stage.address('vm-0'))?.metadata.uid).toBe(addresses[0]?.metadata.uid);
  expect(await stage.records()).toEqual(['10.0.0.5', '10.0.0.8']);
});

test('at the target nothing new is given to claims of others before the addresses of the moved ones are there', async () => {
  await using _leader = stage.lead();
  await stage.capiCluster('blue', true);
  // Nobody ever served it, so no machine has an address of it.
  await stage.claim('fresh', { cluster: 'missing' });
  await stage.claim('before');
  expect(await stage.served('before')).toBe('10.0.0.5');
  const moved = await stage.claim('vm-0', MOVED);
  await wait(500);
  await stage.claim('other');
  expect(await stage.says('other', 'False/PoolNotReady')).toContain('pool lab gives out nothing new');
  await bringAddress(moved, '10.0.0.6');
  expect(await stage.served('other')).toBe('10.0.0.7');
  await pauseCluster(false);
  expect(await stage.served('vm-0')).toBe('10.0.0.6');
});

test('at the target an address that a pod has is said and left', async () => {
  await stage.ledger.create(specOf('10.0.0.5'));
  const leader = stage.lead();
  await using _leader = leader;
  await stage.capiCluster('blue', true);
  await bringAddress(await stage.claim('vm-0', { cluster: 'blue' }), '10.0.0.5');
  const notes = () => leader.told.filter(({ reason }) => reason === 'AddressNotRecorded').map(({ note }) => note);
  await vi.waitFor(() => expect(notes()).toEqual([expect.stringContaining('Pod prod/web-0')]), PATIENCE);
  await pauseCluster(false);
  expect(await stage.says('vm-0', 'False/AllocationFailed')).toContain('is held by Pod prod/web-0');
  expect((await stage.ledger.get('10.0.0.5'))?.spec.holder.kind).toBe('Pod');
});

test('a pool that arrives after its IPAddresses finds them recorded before anybody else is served', async () => {
  await using _leader = stage.lead();
  await stage.clear();
  await stage.capiCluster('blue', true);
  await bringAddress(await stage.claim('vm-0', { cluster: 'blue' }), '10.0.0.5');
  await stage.claim('other');
  await stage.says('other', 'False/PoolNotReady');
  await stage.pool('lab', ['10.0.0.5-10.0.0.6']);
  expect(await stage.served('other')).toBe('10.0.0.6');
  await pauseCluster(false);
  expect(await stage.served('vm-0')).toBe('10.0.0.5');
});

test('at the source nothing is released by a pause, a delete-for-move and stripped finalizers, also by a leader that starts later', async () => {
  await stage.capiCluster('blue');
  {
    await using _leader = stage.lead();
    const claim = await stage.claim('vm-0', { cluster: 'blue' });
    await stage.served('vm-0');
    await pauseCluster(true);
    await patch(CLAIMS, 'vm-0', { metadata: { annotations: { 'clusterctl.cluster.x-k8s.io/delete-for-move': '' } } });
    await stage.remove(claim);
    const { metadata } = await sure(stage.admin.get(CLUSTERS, { namespace: NAMESPACE, name: 'blue' }));
    await sure(stage.admin.delete(CLUSTERS, { namespace: NAMESPACE, name: 'blue', uid: metadata.uid }));
    await wait(1_000);
    expect(await stage.records()).toEqual(['10.0.0.5']);
    await patch(CLAIMS, 'vm-0', { metadata: { finalizers: null } });
    await wait(500);
  }
  await using _next = stage.lead();
  await stage.claim('other');
  expect(await stage.served('other')).toBe('10.0.0.6');
  expect(await stage.records()).toEqual(['10.0.0.5', '10.0.0.6']);
  expect((await stage.address('vm-0'))?.metadata.deletionTimestamp).toBeUndefined();
});
