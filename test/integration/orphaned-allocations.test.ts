import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS } from '#pkg/kube/objects/vitistack-resources.ts';
import { CONFIGURATION_FINALIZER, configurationOwner } from '#pkg/vitistack/vitistack-names.ts';
import { kubectl } from '#test/support/manifests.ts';
import { type AllocationStage, NAMESPACE, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { startGarbageCollector } from './garbage-collector.ts';
import { holdWatches } from './held-watches.ts';
import { machineHands } from './machine-hands.ts';
import { sure } from './spider-objects.ts';

let stage: AllocationStage;
let hands: ReturnType<typeof machineHands>;

beforeAll(async () => {
  stage = await startAllocationStage();
  hands = machineHands(stage);
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

const HOLD = 'a.test/hold';
/** The garbage collector finds new kinds within its resync. */
const LONG = { timeout: 120_000, interval: 200 };
const at = (name: string) => ({ namespace: NAMESPACE, name });
const orphan = (name: string) =>
  kubectl(stage.cluster.server, [
    'delete',
    'networkconfiguration',
    name,
    `--namespace=${NAMESPACE}`,
    '--cascade=orphan',
    '--wait=false',
  ]);
const finalizersOf = async (name: string) => (await hands.find(NETWORK_CONFIGURATIONS, name))?.metadata.finalizers;
const setFinalizers = (name: string, finalizers: readonly string[]) =>
  sure(stage.admin.patch(NETWORK_CONFIGURATIONS, at(name), { metadata: { finalizers } }));
const touch = (name: string) =>
  sure(stage.admin.patch(IP_ALLOCATIONS, at(name), { metadata: { annotations: { touched: name } } }));
const ownersOf = async (name: string) => (await stage.get(name)).metadata.ownerReferences ?? [];

test('deleted with --cascade=orphan, a NetworkConfiguration leaves its IPAllocations with their addresses, whoever made them', async () => {
  await using _collector = await startGarbageCollector(stage.cluster);
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
  {
    await using _leader = stage.lead();
    await hands.machine('vm');
    await stage.served('vm-eth0');
    await stage.allocation('by-hand', { configuration: 'vm' });
    await stage.served('by-hand');
  }
  await setFinalizers('vm', [CONFIGURATION_FINALIZER, HOLD]);
  await orphan('vm');
  // It has orphaned both, and the NetworkConfiguration is still there.
  await vi.waitFor(async () => expect(await finalizersOf('vm')).toEqual([CONFIGURATION_FINALIZER, HOLD]), LONG);
  expect([await ownersOf('vm-eth0'), await ownersOf('by-hand')]).toEqual([[], []]);
  await using _leader = stage.lead();
  await vi.waitFor(async () => expect(await finalizersOf('vm')).toEqual([HOLD]), PATIENCE);
  for (const name of ['vm-eth0', 'by-hand']) await touch(name);
  // What was served after the two were touched was served after they were looked at.
  await stage.allocation('later');
  await stage.served('later');
  expect([await ownersOf('vm-eth0'), await ownersOf('by-hand')]).toEqual([[], []]);
  await setFinalizers('vm', []);
  await hands.untilGone(NETWORK_CONFIGURATIONS, 'vm');
  // The garbage collector has gone on to this one, so it left the two alone.
  await stage.remove(await stage.configuration('later'), NETWORK_CONFIGURATIONS);
  await vi.waitFor(async () => expect(await hands.find(IP_ALLOCATIONS, 'later')).toBeNull(), LONG);
  for (const name of ['vm-eth0', 'by-hand']) await stage.says(name, 'Allocated', /NetworkConfiguration vm is gone/);
  expect((await stage.records()).toSorted()).toEqual(['10.0.2.50', '10.0.2.51']);
});

test('a leader whose watch is late neither gives an orphan its owner back nor replaces the right owner by one that is gone', async () => {
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
  const late = holdWatches(stage.cluster.controller(), [NETWORK_CONFIGURATIONS]);
  await using _leader = stage.lead({ client: late.client });
  await stage.allocation('vm');
  const before = await stage.configuration('vm');
  await stage.served('vm');
  late.hold();
  await setFinalizers('vm', [HOLD]);
  await stage.remove(before, NETWORK_CONFIGURATIONS);
  await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm'), { metadata: { ownerReferences: null } }));
  const isLookedAt = () =>
    vi.waitFor(() => expect(late.count('get', NETWORK_CONFIGURATIONS)).toBeGreaterThan(0), PATIENCE);
  await isLookedAt();
  expect(await ownersOf('vm')).toEqual([]);

  late.hold();
  await setFinalizers('vm', []);
  const { uid } = (await vi.waitFor(async () => {
    const { metadata } = await stage.configuration('vm');
    expect(metadata.uid).not.toBe(before.metadata.uid);
    return metadata;
  }, PATIENCE)) as { uid: string };
  const owner = configurationOwner('vm', uid);
  await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm'), { metadata: { ownerReferences: [owner], labels: null } }));
  await vi.waitFor(
    async () => expect(Object.keys((await stage.get('vm')).metadata.labels ?? {})).toHaveLength(2),
    PATIENCE,
  );
  expect(await ownersOf('vm')).toMatchObject([{ uid }]);
  expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
});
