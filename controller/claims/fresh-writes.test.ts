import { expect, test, vi } from 'vitest';
import { CLAIMS, IP_ADDRESSES } from '#pkg/kube/objects/capi-resources.ts';
import { POOLS } from '#pkg/kube/objects/spider-resources.ts';
import { ClaimWorld } from '#test/support/claim-world.ts';

const PATIENCE = { timeout: 30_000, interval: 5 };
const AT = { namespace: 'prod', name: 'vm-0' };

async function serveOne() {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.5']);
  const leader = world.lead();
  world.claim('vm-0');
  await vi.waitFor(() => expect(world.condition('vm-0')).toContain('True/Ready'), PATIENCE);
  return { world, [Symbol.asyncDispose]: () => leader[Symbol.asyncDispose]() };
}

test('a claim that another client has changed, while the watch of claims is late, is read once and written', async () => {
  await using one = await serveOne();
  const { world } = one;
  world.claim('vm-1');
  await vi.waitFor(() => expect(world.condition('vm-1')).toContain('False/PoolExhausted'), PATIENCE);
  world.objects.hold(CLAIMS);
  world.objects.patch(CLAIMS, { namespace: 'prod', name: 'vm-1' }, { metadata: { annotations: { at: 'noon' } } });
  const before = world.calls.length;
  world.objects.patch(POOLS, { name: 'lab' }, { spec: { disable: true }, metadata: { generation: 2 } });
  await vi.waitFor(() => expect(world.condition('vm-1')).toContain('False/PoolNotReady'), PATIENCE);
  const calls = world.calls.slice(before).filter((it) => it.endsWith(' vm-1'));
  expect(calls).toEqual(['patch ipaddressclaims vm-1', 'get ipaddressclaims vm-1', 'patch ipaddressclaims vm-1']);
});

test('an IPAddress that no watch has shown for 30 s goes with its claim, and its record does not come back', async () => {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.5']);
  await using _leader = world.lead();
  world.objects.hold(IP_ADDRESSES);
  world.claim('vm-0');
  await vi.waitFor(() => expect(world.condition('vm-0')).toContain('True/Ready'), PATIENCE);
  world.aheadMs += 31_000;
  world.objects.delete(CLAIMS, AT);
  await vi.waitFor(() => expect(world.objects.get(CLAIMS, AT)).toBeNull(), PATIENCE);
  expect(world.address('vm-0')).toBeNull();
  world.objects.letGo(IP_ADDRESSES);
  world.claim('later');
  await vi.waitFor(() => expect(world.condition('later')).toContain('True/Ready'), PATIENCE);
  expect(await world.held()).toEqual(['prod/later 10.0.0.5']);
});

test('no read of an IPAddress where the watch is in time', async () => {
  await using one = await serveOne();
  const { world } = one;
  world.aheadMs += 31_000;
  world.objects.delete(CLAIMS, AT);
  await vi.waitFor(() => expect(world.objects.get(CLAIMS, AT)).toBeNull(), PATIENCE);
  expect(world.calls.filter((it) => it.startsWith('get ipaddresses'))).toEqual([]);
});
