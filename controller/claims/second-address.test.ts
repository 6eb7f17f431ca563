import { expect, test, vi } from 'vitest';
import { CLAIMS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { ClaimWorld } from '#test/support/claim-world.ts';

const PATIENCE = { timeout: 30_000, interval: 5 };

test('a second IPAddress that names the claim keeps its record: through an edit of the pool, and when the claim ends', async () => {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.5-10.0.0.9']);
  await using _leader = world.lead();
  world.claim('vm-1');
  await vi.waitFor(() => expect(world.condition('vm-1')).toContain('True/Ready'), PATIENCE);
  const poolRef = { apiGroup: POOLS.group, kind: POOLS.kind, name: 'lab' };
  world.objects.create(IP_ADDRESSES, {
    metadata: { namespace: 'prod', name: 'extra' },
    spec: { claimRef: { name: 'vm-1' }, poolRef, address: '10.0.0.7', prefix: 16 },
  });
  await vi.waitFor(() => expect(world.countOf('create iprecords 10.0.0.7')).toBe(1), PATIENCE);
  world.objects.patch(POOLS, { name: 'lab' }, { spec: { ips: ['10.0.0.5-10.0.0.8'] }, metadata: { generation: 2 } });
  world.claim('vm-2');
  await vi.waitFor(() => expect(world.condition('vm-2')).toContain('True/Ready'), PATIENCE);
  world.objects.delete(CLAIMS, { namespace: 'prod', name: 'vm-1' });
  await vi.waitFor(
    async () => expect((await world.held()).sort()).toEqual(['prod/extra 10.0.0.7', 'prod/vm-2 10.0.0.6']),
    PATIENCE,
  );
  expect(world.countOf('create iprecords 10.0.0.7')).toBe(1);
  expect(world.countOf('delete iprecords 10.0.0.7')).toBe(0);
});
