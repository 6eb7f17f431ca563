import { expect, test, vi } from 'vitest';
import { CLAIMS } from '#pkg/kube/objects/capi-resources.ts';
import { abandonedWrite } from '#pkg/ledger/abandoned-write.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { buildClaimRecord } from '#test/support/build-claim.ts';
import { ClaimWorld } from '#test/support/claim-world.ts';

const PATIENCE = { timeout: 30_000, interval: 5 };
const AT = { namespace: 'prod', name: 'vm-0' };

/** A claim that is deleted while the create of its record has no answer. The watch of records tells of nothing. */
async function abandon() {
  const world = new ClaimWorld();
  world.pool('lab', ['10.0.0.5']);
  world.records.hold();
  const leader = world.lead();
  let uid = '';
  world.before = (call) => {
    if (call !== 'create iprecords 10.0.0.5') return undefined;
    world.before = () => undefined;
    uid = world.objects.get(CLAIMS, AT)?.metadata.uid ?? '';
    world.objects.delete(CLAIMS, AT);
    return abandonedWrite('create', '10.0.0.5', 'no answer');
  };
  world.claim('vm-0');
  await vi.waitFor(() => expect(world.countOf('get iprecords 10.0.0.5')).toBeGreaterThan(0), PATIENCE);
  return {
    world,
    spec: (): RecordSpec => buildClaimRecord('10.0.0.5', { uid }).spec,
    [Symbol.asyncDispose]: () => leader[Symbol.asyncDispose](),
  };
}

test('a record that is made after its claim was deleted, by a create that had no answer, goes with the claim', async () => {
  await using one = await abandon();
  const { world } = one;
  expect(world.objects.get(CLAIMS, AT)).not.toBeNull();
  expect((await world.ledger.create(one.spec())).taken).toBe(true);
  await vi.waitFor(async () => expect(await world.held()).toEqual([]), PATIENCE);
  world.aheadMs += 61_000;
  await vi.waitFor(() => expect(world.objects.get(CLAIMS, AT)).toBeNull(), PATIENCE);
});

test('a claim is let go when a minute is over and nothing was made', async () => {
  await using one = await abandon();
  one.world.aheadMs += 61_000;
  await vi.waitFor(() => expect(one.world.objects.get(CLAIMS, AT)).toBeNull(), PATIENCE);
});
