import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import {
  IP_ALLOCATIONS,
  NETWORK_CONFIGURATIONS,
  NETWORK_NAMESPACES,
  SHARED_IPS,
} from '#pkg/kube/objects/vitistack-resources.ts';
import { type AllocationStage, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { machineHands } from './machine-hands.ts';

let stage: AllocationStage;

beforeAll(async () => {
  stage = await startAllocationStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

const ROUNDS = 60;
const EACH_MS = 1_000;
/** Ten repairs of an IPAllocation at once, nine of the others while their pauses double; then one in 10 s and in 30 s. */
const AT_ONCE = 12;
const LATER_MS = 10_000;
/** The longest pause is 30 s. */
const LONG = { timeout: 120_000, interval: 250 };

const PLACES = [
  { kind: IP_ALLOCATIONS, name: 'by-hand' },
  { kind: NETWORK_CONFIGURATIONS, name: 'vm' },
  { kind: NETWORK_NAMESPACES, name: 'prod-network' },
  { kind: SHARED_IPS, name: 'blue-vip' },
] as const satisfies readonly { kind: Resource; name: string }[];

test('another writer replaces four whole statuses every second for a minute: few writes of ours, and all is there when it stops', async () => {
  const hands = machineHands(stage);
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
  await using _leader = stage.lead();
  await hands.machine('vm');
  await vi.waitFor(async () => expect(await hands.shownBy('vm')).toEqual(['10.0.2.50']), PATIENCE);
  await stage.allocation('by-hand');
  await stage.served('by-hand');
  await hands.sharedIp();
  const allIsThere = async () => {
    expect(await hands.statusOf(IP_ALLOCATIONS, 'by-hand')).toMatchObject({ phase: 'Allocated', address: '10.0.2.51' });
    expect(await hands.statusOf(NETWORK_CONFIGURATIONS, 'vm')).toMatchObject({ phase: 'Ready', status: 'Success' });
    expect(await hands.shownBy('vm')).toEqual(['10.0.2.50']);
    expect(await hands.statusOf(NETWORK_NAMESPACES, 'prod-network')).toMatchObject({
      ipv4Prefix: '10.0.2.0/24',
      ipAllocationSummary: { allocatedCount: 3 },
    });
    expect(await hands.statusOf(SHARED_IPS, 'blue-vip')).toMatchObject({
      phase: 'Ready',
      loadBalancerIps: ['10.0.2.52'],
    });
  };
  await vi.waitFor(allIsThere, PATIENCE);

  const writesOf = ({ plural }: Resource) =>
    stage.cluster.server.requestCount({ verb: 'PATCH', resource: plural, subresource: 'status' });
  const before = await Promise.all(PLACES.map(({ kind }) => writesOf(kind)));
  const startedMs = performance.now();
  await Promise.all(
    PLACES.map(async ({ kind, name }) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const found = await hands.find(kind, name);
        // It may lose a race against us; then it comes again in a second.
        if (found !== null)
          await stage.admin.update(
            kind,
            { ...found, status: { message: `round ${round}` } },
            { subresource: 'status' },
          );
        await wait(EACH_MS);
      }
    }),
  );
  const later = Math.ceil((performance.now() - startedMs) / LATER_MS);
  const after = await Promise.all(PLACES.map(({ kind }) => writesOf(kind)));
  for (const [index, { kind }] of PLACES.entries()) {
    const writes = (after[index] ?? 0) - (before[index] ?? 0);
    expect([kind.kind, writes > 0, writes <= AT_ONCE + later]).toEqual([kind.kind, true, true]);
  }
  await vi.waitFor(allIsThere, LONG);
  expect((await stage.records()).toSorted()).toEqual(['10.0.2.50', '10.0.2.51', '10.0.2.52']);
});
