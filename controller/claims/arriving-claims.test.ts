import { expect, test, vi } from 'vitest';
import { CLAIM_FINALIZER } from '#pkg/capi/contract-names.ts';
import { CLAIMS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { ClaimWorld } from '#test/support/claim-world.ts';

const PATIENCE = { timeout: 30_000, interval: 5 };

/** As the mover creates it, with the uid of its claim here. */
function bringAddress(world: ClaimWorld, { metadata: { name, uid } }: KubeObject, address: string): void {
  const claim = { apiVersion: 'ipam.cluster.x-k8s.io/v1beta2', kind: 'IPAddressClaim', name, uid, controller: true };
  world.objects.create(IP_ADDRESSES, {
    metadata: { namespace: 'prod', name, ownerReferences: [claim] },
    spec: {
      claimRef: { name },
      poolRef: { apiGroup: POOLS.group, kind: POOLS.kind, name: 'lab' },
      address,
      prefix: 16,
    },
  });
}

function begin() {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.5-10.0.0.9']);
  world.pool('other', ['10.0.9.1']);
  return { world, leader: world.lead() };
}

test('a claim without a cluster that a move brings waits for its IPAddress, and so do the claims of others', async () => {
  const { world, leader } = begin();
  await using _leader = leader;
  const moved = world.claim('moved', { isProtected: true });
  world.claim('new');
  await vi.waitFor(() => expect(world.condition('new')).toContain('gives out nothing new'), PATIENCE);
  expect(world.condition('moved')).toBe('');
  bringAddress(world, moved, '10.0.0.5');
  await vi.waitFor(() => expect(world.condition('moved')).toBe('True/Ready: 10.0.0.5 of pool lab'), PATIENCE);
  await vi.waitFor(() => expect(world.condition('new')).toBe('True/Ready: 10.0.0.6 of pool lab'), PATIENCE);
});

test('it waits for a minute: a leader that died after it wrote the finalizer leaves the same', async () => {
  const { world, leader } = begin();
  world.claim('left', { isProtected: true });
  world.claim('probe', { pool: 'other' });
  await vi.waitFor(() => expect(world.condition('probe')).toContain('True/Ready'), PATIENCE);
  expect(world.condition('left')).toBe('');
  await leader[Symbol.asyncDispose]();
  world.aheadMs += 65_000;
  await using _next = world.lead();
  await vi.waitFor(() => expect(world.condition('left')).toBe('True/Ready: 10.0.0.5 of pool lab'), PATIENCE);
});

test('a claim that waits already, and one that this leader has just protected, do not', async () => {
  const { world, leader } = begin();
  await using _leader = leader;
  const waiting = world.claim('waiting', { pool: 'missing' });
  await vi.waitFor(() => expect(world.condition('waiting')).toContain('False/PoolNotReady'), PATIENCE);
  expect(world.objects.get(CLAIMS, waiting.metadata)?.metadata.finalizers).toEqual([CLAIM_FINALIZER]);
  await using _next = world.lead();
  world.objects.create(POOLS, { metadata: { name: 'missing' }, spec: { subnet: '10.1.0.0/16', ips: ['10.1.0.5'] } });
  await vi.waitFor(() => expect(world.condition('waiting')).toBe('True/Ready: 10.1.0.5 of pool missing'), PATIENCE);
});
