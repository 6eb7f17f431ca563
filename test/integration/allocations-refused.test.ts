import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS, SHARED_IPS } from '#pkg/kube/objects/vitistack-resources.ts';
import { IP_RECORDS } from '#pkg/ledger/kubernetes/kubernetes-write.ts';
import { allocationName, otherAllocationName } from '#pkg/vitistack/provider-names.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { refuse } from './admission-rule.ts';
import { type AllocationStage, allocationOf, NAMESPACE, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { machineHands } from './machine-hands.ts';
import { removeAll, sure } from './spider-objects.ts';

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

/** So long is counted what a controller asks for again and again. In a tight loop it would be some hundred requests. */
const WINDOW_MS = 5_000;
const MOST_IN_WINDOW = 15;
const ALWAYS_NEW = "'not today: ' + object.metadata.uid";

/** No record of these holders can be made. */
function refuseRecords(names: readonly string[], says: string) {
  const holders = [...names, 'probe'].map((name) => `'${name}'`).join();
  return refuse(stage.admin, {
    name: 'no-records',
    kind: IP_RECORDS,
    refused: `object.spec.holder.name in [${holders}]`,
    says,
    isRefused: async () => {
      const spec = specOf('192.0.2.1');
      try {
        const { record } = await stage.ledger.create({ ...spec, holder: { ...spec.holder, name: 'probe' } });
        if (record !== null) await stage.ledger.release(record);
        return false;
      } catch {
        return true;
      }
    },
  });
}

function refuseAllocations(names: readonly string[], says: string) {
  return refuse(stage.admin, {
    name: 'no-allocations',
    kind: IP_ALLOCATIONS,
    refused: `object.metadata.name in [${[...names, 'probe'].map((name) => `'${name}'`).join()}]`,
    says,
    isRefused: async () => {
      const made = await stage.admin.create(IP_ALLOCATIONS, allocationOf('probe', 'none'));
      if (made.ok) await stage.remove(made.object);
      return !made.ok && made.because === 'Invalid'; // and not because the one before is still going
    },
  });
}

const requestsIn = async (ms: number, labels: Parameters<typeof stage.cluster.server.requestCount>[0]) => {
  const before = await stage.cluster.server.requestCount(labels);
  await wait(ms);
  return (await stage.cluster.server.requestCount(labels)) - before;
};
const statusWrites = { verb: 'PATCH', resource: 'ipallocations', subresource: 'status' };

test('an IPAllocation whose record is refused says so, once, and is served when that is over', async () => {
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
  await using rule = await refuseRecords(['vm-0'], "'no records on Sundays'");
  await using leader = stage.lead();
  const before = await stage.cluster.server.requestCount(statusWrites);
  await stage.allocation('vm-0');
  expect(await stage.says('vm-0', 'Error', /no records on Sundays/)).toContain('10.0.2.50');
  expect(await requestsIn(WINDOW_MS, { verb: 'POST', resource: 'iprecords' })).toBeLessThan(MOST_IN_WINDOW);
  expect((await stage.cluster.server.requestCount(statusWrites)) - before).toBe(2);
  expect(leader.told.filter(({ note }) => note.includes('Sundays'))).toHaveLength(1);
  await rule.end();
  expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.50' });
});

test('a refusal that reads differently each time is no reason to ask again and again', async () => {
  await stage.network('prod-network');
  await using _rule = await refuseRecords(['vm-0'], ALWAYS_NEW);
  await using _leader = stage.lead();
  await stage.allocation('vm-0');
  await stage.says('vm-0', 'Error', /not today/);
  await requestsIn(WINDOW_MS, statusWrites);
  expect(await requestsIn(WINDOW_MS, { verb: 'POST', resource: 'iprecords' })).toBeLessThan(MOST_IN_WINDOW);
  expect(await requestsIn(WINDOW_MS, statusWrites)).toBeLessThan(MOST_IN_WINDOW);
});

test('an IPAllocation whose record is refused does not keep the address from those behind it', async () => {
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '10.0.2.50' });
  await using _rule = await refuseRecords(['vm-1'], "'no records on Sundays'");
  await using _leader = stage.lead();
  const first = await stage.allocation('vm-0');
  await stage.served('vm-0');
  for (const name of ['vm-1', 'vm-2']) {
    await stage.allocation(name);
    await stage.says(name, 'Error', /exhausted/);
  }
  await stage.remove(first);
  expect(await stage.served('vm-2')).toMatchObject({ address: '10.0.2.50' });
});

test('a NetworkConfiguration whose IPAllocation is refused in ever new words says so, and does not ask again and again', async () => {
  await stage.network('prod-network');
  await using rule = await refuseAllocations(['vm-eth0'], ALWAYS_NEW);
  await using _leader = stage.lead();
  await hands.machine('vm');
  await vi.waitFor(async () => {
    const { phase, message } = await hands.statusOf(NETWORK_CONFIGURATIONS, 'vm');
    expect([phase, message]).toEqual(['Error', expect.stringMatching(/vm-eth0: Invalid: .*not today/)]);
  }, PATIENCE);
  expect(await requestsIn(WINDOW_MS, { verb: 'POST', resource: 'ipallocations' })).toBeLessThan(MOST_IN_WINDOW);
  await rule.end();
  await hands.untilServed('vm', '10.0.2.2');
});

test('an IPAllocation that may not be deleted hides nothing: the next interface gets its address, and the status has the reason', async () => {
  await stage.network('prod-network');
  await using _leader = stage.lead();
  await hands.machine('vm');
  await hands.untilServed('vm', '10.0.2.2');
  await using rule = await refuse(stage.admin, {
    name: 'no-deletions',
    kind: IP_ALLOCATIONS,
    operation: 'DELETE',
    refused: "oldObject.metadata.name in ['vm-eth0', 'probe']",
    says: "'nothing is deleted on Sundays'",
    isRefused: async () => {
      const probe = { namespace: NAMESPACE, name: 'probe' };
      const found = await stage.admin.get(IP_ALLOCATIONS, probe);
      const { metadata } = found.ok
        ? found.object
        : await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf('probe', 'none')));
      return !(await stage.admin.delete(IP_ALLOCATIONS, { ...probe, uid: metadata.uid })).ok;
    },
  });
  const networkInterfaces = [{ name: 'eth1', macAddress: '02:00:00:00:00:01' }];
  await sure(
    stage.admin.patch(NETWORK_CONFIGURATIONS, { namespace: NAMESPACE, name: 'vm' }, { spec: { networkInterfaces } }),
  );
  await vi.waitFor(async () => {
    const { phase, message } = await hands.statusOf(NETWORK_CONFIGURATIONS, 'vm');
    expect([phase, message]).toEqual([
      'Error',
      expect.stringMatching(/^1 of 1 interfaces have an address; .*vm-eth0: Invalid: .*nothing is deleted on Sundays/),
    ]);
    expect(await hands.shownBy('vm')).toEqual(['10.0.2.3']);
  }, PATIENCE);
  await rule.end();
  await vi.waitFor(async () => {
    expect(await hands.statusOf(NETWORK_CONFIGURATIONS, 'vm')).toMatchObject({ phase: 'Ready' });
    expect(await stage.records()).toEqual(['10.0.2.3']);
  }, PATIENCE);
});

test('a NetworkConfiguration says so when the IPAllocations of another one have both names of its own', async () => {
  await stage.network('prod-network');
  await using _leader = stage.lead();
  const foreign = [allocationName('vm', 'eth0'), otherAllocationName('vm', 'eth0')];
  for (const name of foreign) await stage.allocation(name, { configuration: 'other' });
  await hands.machine('vm');
  await vi.waitFor(async () => {
    const { phase, message } = await hands.statusOf(NETWORK_CONFIGURATIONS, 'vm');
    expect([phase, message]).toEqual(['Error', expect.stringContaining(foreign.join(' and '))]);
  }, PATIENCE);
  await stage.remove(await stage.get(foreign[0] ?? ''));
  await vi.waitFor(async () => {
    expect(await hands.statusOf(NETWORK_CONFIGURATIONS, 'vm')).toMatchObject({ phase: 'Ready' });
  }, PATIENCE);
});

test('a virtual IP whose NetworkConfiguration is refused says so, and gets its address when that is over', async () => {
  await stage.network('prod-network');
  await using rule = await refuse(stage.admin, {
    name: 'no-virtual-ips',
    kind: NETWORK_CONFIGURATIONS,
    refused: "object.metadata.name in ['blue-cpvip', 'probe']",
    says: ALWAYS_NEW,
    isRefused: async () => {
      const metadata = { namespace: NAMESPACE, name: 'probe' };
      const made = await stage.admin.create(NETWORK_CONFIGURATIONS, { metadata, spec: { name: 'probe' } });
      if (made.ok) await stage.remove(made.object, NETWORK_CONFIGURATIONS);
      return !made.ok && made.because === 'Invalid';
    },
  });
  await using _leader = stage.lead();
  await hands.sharedIp();
  await vi.waitFor(async () => {
    const { phase, message } = await hands.statusOf(SHARED_IPS, 'blue-vip');
    expect([phase, message]).toEqual(['Error', expect.stringMatching(/not today/)]);
  }, PATIENCE);
  expect(await requestsIn(WINDOW_MS, { verb: 'POST', resource: 'networkconfigurations' })).toBeLessThan(MOST_IN_WINDOW);
  await rule.end();
  await vi.waitFor(async () => {
    expect(await hands.statusOf(SHARED_IPS, 'blue-vip')).toMatchObject({
      phase: 'Ready',
      loadBalancerIps: ['10.0.2.2'],
    });
  }, PATIENCE);
});
