import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS, SHARED_IPS } from '#pkg/kube/objects/vitistack-resources.ts';
import { type AllocationStage, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { machineHands } from './machine-hands.ts';
import { deaths, leadUntilDead } from './mortal-leader.ts';
import { removeAll } from './spider-objects.ts';

let stage: AllocationStage;
let hands: ReturnType<typeof machineHands>;

beforeAll(async () => {
  stage = await startAllocationStage();
  hands = machineHands(stage);
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  await removeAll(stage.admin, SHARED_IPS);
  await stage.clear();
});

describe('a leader that is killed and followed by another one', () => {
  beforeEach(async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50', ttlSeconds: 60 });
  });

  // Finalizer, IPAllocation, its three writes, status, summary; in whatever order the reconcilers have it.
  test.each(deaths([1, 2, 3, 4, 5, 6, 7]))(
    '$when write $write for a NetworkConfiguration: one IPAllocation, one record, the same address',
    async (death) => {
      await leadUntilDead(stage, death, () => hands.machine('vm'));
      await using _next = stage.lead();
      await hands.untilServed('vm', '10.0.2.50');
    },
  );

  test.each(deaths([1, 2, 3, 4, 5]))(
    '$when write $write of the end of a NetworkConfiguration: nothing is left',
    async (death) => {
      let made: KubeObject | null = null;
      {
        await using _first = stage.lead();
        made = await hands.machine('vm');
        await hands.untilServed('vm', '10.0.2.50');
      }
      const own = made;
      await leadUntilDead(stage, death, () => stage.remove(own, NETWORK_CONFIGURATIONS));
      await using _next = stage.lead();
      await hands.untilGone(NETWORK_CONFIGURATIONS, 'vm');
      await hands.untilRecords([]);
      await hands.untilGone(IP_ALLOCATIONS, 'vm-eth0');
    },
  );

  // Finalizer, NetworkConfiguration, and what the two above have: in whatever order the reconcilers have it.
  test.each(deaths([1, 2, 3, 4, 5, 6, 7, 8, 9]))('$when write $write for a virtual IP: one address', async (death) => {
    await leadUntilDead(stage, death, hands.sharedIp);
    await using _next = stage.lead();
    await vi.waitFor(async () => {
      expect(await hands.statusOf(SHARED_IPS, 'blue-vip')).toMatchObject({
        phase: 'Ready',
        loadBalancerIps: ['10.0.2.50'],
      });
    }, PATIENCE);
    expect(await stage.records()).toEqual(['10.0.2.50']);
  });

  // Its NetworkConfiguration, the IPAllocation of that with its three, and the finalizers of all of them.
  test.each(deaths([1, 2, 3, 4, 5, 6, 7]))(
    '$when write $write of the end of a virtual IP: nothing is left',
    async (death) => {
      let made: KubeObject | null = null;
      {
        await using _first = stage.lead();
        made = await hands.sharedIp();
        await hands.untilServed('blue-cpvip', '10.0.2.50');
        await vi.waitFor(async () => {
          expect(await hands.statusOf(SHARED_IPS, 'blue-vip')).toMatchObject({ phase: 'Ready' });
        }, PATIENCE);
      }
      const own = made;
      await leadUntilDead(stage, death, () => stage.remove(own, SHARED_IPS));
      await using _next = stage.lead();
      await hands.untilGone(SHARED_IPS, 'blue-vip');
      await hands.untilGone(NETWORK_CONFIGURATIONS, 'blue-cpvip');
      await hands.untilRecords([]);
    },
  );
});
