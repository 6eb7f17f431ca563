import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS, NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import { abandonedWrite } from '#pkg/ledger/abandoned-write.ts';
import { openKubernetesLedger } from '#pkg/ledger/kubernetes/kubernetes-ledger.ts';
import { ledgerWith } from '#pkg/ledger/ledger-with.ts';
import type { RecordSpec } from '#pkg/record/ip-record.ts';
import { ALLOCATION_FINALIZER } from '#pkg/vitistack/vitistack-names.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { turnedClock } from '#test/support/turned-clock.ts';
import { type AllocationStage, allocationOf, NAMESPACE, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { machineHands } from './machine-hands.ts';
import { deaths, leadUntilDead } from './mortal-leader.ts';
import { sure } from './spider-objects.ts';

let stage: AllocationStage;

beforeAll(async () => {
  stage = await startAllocationStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

const at = (name: string) => ({ namespace: NAMESPACE, name });
const untilRecords = (expected: readonly string[]) =>
  vi.waitFor(async () => expect((await stage.records()).toSorted()).toEqual(expected), PATIENCE);

describe('a leader that is killed and followed by another one', () => {
  beforeEach(async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
  });

  test.each(deaths([1, 2, 3, 4]))(
    '$when write $write of an allocation: one record, the same address',
    async (death) => {
      await leadUntilDead(stage, death, () => stage.allocation('vm-0'));
      await using _next = stage.lead();
      expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.50' });
      expect(await stage.records()).toEqual(['10.0.2.50']);
    },
  );

  test.each(deaths([1, 2, 3]))('$when write $write of a deletion: nothing is left', async (death) => {
    let made: KubeObject | null = null;
    {
      await using _first = stage.lead();
      made = await stage.allocation('vm-0');
      await stage.served('vm-0');
    }
    const own = made;
    await leadUntilDead(stage, death, () => stage.remove(own));
    await using _next = stage.lead();
    await stage.untilGone('vm-0');
    await untilRecords([]);
  });
});

test('two leaders serve 60 allocations of 60 addresses: each has one record, which its status shows', async () => {
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.101', ipv4RangeEnd: '10.0.2.160' });
  const names = Array.from({ length: 60 }, (_, index) => `vm-${index}`);
  await Promise.all(names.map((name) => stage.configuration(name)));
  await using _one = stage.lead();
  await using _two = stage.lead();
  await Promise.all(names.map((name) => sure(stage.admin.create(IP_ALLOCATIONS, allocationOf(name, name)))));
  const addresses = await Promise.all(names.map(async (name) => (await stage.served(name))['address']));
  expect(new Set(addresses).size).toBe(60);
  await vi.waitFor(async () => {
    const records = await stage.ledger.list({ limit: 500 });
    expect(records).toHaveLength(60);
    expect(Object.fromEntries(records.map(({ spec }) => [spec.holder.name, spec.address]))).toEqual(
      Object.fromEntries(names.map((name, index) => [name, addresses[index]])),
    );
  }, PATIENCE);
});

describe('somebody else writes', () => {
  beforeEach(async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
  });

  test('a status that is replaced again and again is repaired, with few writes, and the address stays', async () => {
    await using _leader = stage.lead();
    await stage.allocation('vm-0');
    await stage.served('vm-0');
    const writes = () => stage.cluster.server.requestCount({ verb: 'PATCH', resource: 'ipallocations' });
    const before = await writes();
    const startedMs = performance.now();
    for (let round = 0; round < 20; round += 1) {
      const { metadata } = await stage.get('vm-0');
      const body = { ...allocationOf('vm-0', 'vm-0'), metadata, status: { phase: 'Error', message: `round ${round}` } };
      await stage.admin.update(IP_ALLOCATIONS, body, { subresource: 'status' });
      await wait(100);
    }
    // Ten at once, and then one in 10 s, however long the rounds took.
    const later = Math.ceil((performance.now() - startedMs) / 10_000);
    expect((await writes()) - before).toBeLessThanOrEqual(10 + later);
    expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.50', prefix: 24 });
    expect(await stage.records()).toEqual(['10.0.2.50']);
  });

  test('finalizer and labels that are stripped come back, and a record that is deleted by hand too', async () => {
    await using _leader = stage.lead();
    await stage.allocation('vm-0');
    await stage.served('vm-0');
    const stripped = { metadata: { finalizers: null, labels: null, ownerReferences: null } };
    await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm-0'), stripped));
    await vi.waitFor(async () => {
      const { metadata } = await stage.get('vm-0');
      expect(metadata.finalizers).toEqual([ALLOCATION_FINALIZER]);
      expect(Object.keys(metadata.labels ?? {})).toHaveLength(2);
      expect(metadata.ownerReferences).toMatchObject([{ kind: 'NetworkConfiguration', name: 'vm-0' }]);
    }, PATIENCE);
    const [record] = await stage.ledger.list({ limit: 10 });
    if (record !== undefined) await stage.ledger.release(record);
    await untilRecords(['10.0.2.50']);
  });

  test('a status that shows the address of before moves nothing: the record says which address it is', async () => {
    await using _leader = stage.lead();
    await stage.allocation('vm-0', { spec: { requestedAddress: '10.0.2.51' } });
    await stage.served('vm-0');
    await stage.setStatus(IP_ALLOCATIONS, 'vm-0', { address: '10.0.2.50' });
    await vi.waitFor(async () => expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.51' }), PATIENCE);
    // It would be the lowest free one, if the first one had not taken it.
    await stage.allocation('vm-1');
    expect(await stage.served('vm-1')).toMatchObject({ address: '10.0.2.50' });
    await untilRecords(['10.0.2.50', '10.0.2.51']);
    const [record] = (await stage.ledger.list({ limit: 10 })).filter(({ name }) => name === '10.0.2.51');
    expect(record?.spec.holder.name).toBe('vm-0');
  });

  test('an allocation that vanished keeps its address for its NetworkConfiguration, and one of its name goes on with it', async () => {
    const leader = stage.lead();
    await using _leader = leader;
    const made = await stage.allocation('vm-0', { spec: { requestedAddress: '10.0.2.77' } });
    await stage.served('vm-0');
    await sure(
      stage.admin.patch(IP_ALLOCATIONS, at('vm-0'), {
        metadata: { finalizers: ['a.test/hold', ALLOCATION_FINALIZER] },
      }),
    );
    await stage.remove(made);
    await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm-0'), { metadata: { finalizers: null } }));
    await stage.untilGone('vm-0');
    expect(await stage.records()).toEqual(['10.0.2.77']);
    await stage.allocation('vm-0');
    expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.77' });
    const [record] = await stage.ledger.list({ limit: 10 });
    expect(record?.spec.holder.uid).toBe((await stage.get('vm-0')).metadata.uid);
  });

  test('a machine keeps the address of an IPAllocation that vanished, also under the name of the one that follows', async () => {
    await using _leader = stage.lead();
    const made = await stage.allocation('db-server-fixed', {
      configuration: 'db',
      spec: { requestedAddress: '10.0.2.100' },
    });
    await stage.served('db-server-fixed');
    const networkInterfaces = [{ name: 'eth0', macAddress: '02:00:00:00:00:01' }];
    await sure(
      stage.admin.patch(NETWORK_CONFIGURATIONS, at('db'), {
        spec: { networkNamespaceName: 'prod-network', networkInterfaces },
      }),
    );
    await vi.waitFor(async () => expect(await machineHands(stage).shownBy('db')).toEqual(['10.0.2.100']), PATIENCE);
    const held = { metadata: { finalizers: ['a.test/hold', ALLOCATION_FINALIZER] } };
    await sure(stage.admin.patch(IP_ALLOCATIONS, at('db-server-fixed'), held));
    await stage.remove(made);
    await sure(stage.admin.patch(IP_ALLOCATIONS, at('db-server-fixed'), { metadata: { finalizers: null } }));
    await stage.untilGone('db-server-fixed');
    await vi.waitFor(
      async () => expect(await machineHands(stage).find(IP_ALLOCATIONS, 'db-eth0')).not.toBeNull(),
      PATIENCE,
    );
    expect(await stage.served('db-eth0')).toMatchObject({ address: '10.0.2.100' });
    const records = await stage.ledger.list({ limit: 10 });
    expect(records.map(({ name, spec }) => `${name} ${spec.holder.name}`)).toEqual(['10.0.2.100 db-eth0']);
  });

  test('addresses that static-ip-operator gave are taken over as they are, and nobody is renumbered', async () => {
    await stage.ledger.create(specOf('10.0.2.60'));
    for (const [name, address] of [
      ['vm-0', '10.0.2.55'],
      ['vm-1', '10.0.2.50'],
      ['vm-2', '10.0.2.60'],
    ] as const) {
      await stage.allocation(name);
      await stage.setStatus(IP_ALLOCATIONS, name, { phase: 'Allocated', address });
    }
    await using _leader = stage.lead();
    await stage.allocation('vm-3');
    expect(await stage.served('vm-3')).toMatchObject({ address: '10.0.2.51' });
    await untilRecords(['10.0.2.50', '10.0.2.51', '10.0.2.55', '10.0.2.60']);
    const message = await stage.says('vm-2', 'Error', /10\.0\.2\.60 is held by Pod/);
    expect(message).toMatch(/both are left as they are/);
    expect((await stage.get('vm-2'))['status']).toMatchObject({ address: '10.0.2.60' });
  });
});

describe('point 6: the time of an address', () => {
  test('it is renewed while its NetworkConfiguration lives, and over only when that is gone, and has been for a minute', async () => {
    const clock = turnedClock();
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50', ttlSeconds: 60 });
    const lead = () => machineHands(stage).leadAt(clock);
    {
      await using _leader = lead();
      await stage.allocation('vm-0');
      await stage.served('vm-0');
    }
    // Away for longer than its time. It comes back, looks, and reclaims nothing.
    clock.turn(3_600_000);
    {
      await using _leader = lead();
      await stage.allocation('vm-1');
      await stage.served('vm-1');
      expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.50' });
    }
    const configuration = await sure(stage.admin.get(NETWORK_CONFIGURATIONS, at('vm-0')));
    await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm-0'), { metadata: { ownerReferences: null } }));
    await stage.remove(configuration, NETWORK_CONFIGURATIONS);
    clock.turn(3_600_000);
    await using _leader = machineHands(stage).leadAt(clock);
    // It is looked for in the API server, and again a minute later: until then the address is kept.
    await stage.says('vm-0', 'Allocated', /NetworkConfiguration vm-0 is gone: the address is given back after/);
    expect((await stage.records()).toSorted()).toEqual(['10.0.2.50', '10.0.2.51']);
    clock.turn(61_000);
    const touch = () =>
      sure(stage.admin.patch(IP_ALLOCATIONS, at('vm-0'), { metadata: { annotations: { touched: 'yes' } } }));
    await touch();
    await stage.says('vm-0', 'Released', /10\.0\.2\.50 was given back/);
    await untilRecords(['10.0.2.51']);
    expect((await stage.get('vm-0'))['status']).not.toHaveProperty('address');
    // Back again, it asks for the address that it had, although a lower one would be free too.
    await sure(stage.admin.patch(NETWORK_NAMESPACES, at('prod-network'), LOWER));
    await stage.configuration('vm-0');
    expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.50' });
  });
});

const LOWER = { spec: { ipAllocation: { static: { ipv4RangeStart: '10.0.2.40' } } } };

describe.each([{ isAsked: false }, { isAsked: true }])(
  'an IPAllocation (address asked for: $isAsked) that is deleted while the create of its record has no answer',
  ({ isAsked }) => {
    const ADDRESS = '10.0.2.50';
    const clock = turnedClock();
    const drafts: RecordSpec[] = [];
    let looks = 0;

    async function abandon(): Promise<AsyncDisposable> {
      drafts.length = 0;
      looks = 0;
      await stage.network('prod-network', { ipv4RangeStart: ADDRESS });
      const client = stage.cluster.controller({ timing: clock.timing });
      const ledger = ledgerWith(openKubernetesLedger(client), {
        create: async (spec) => {
          drafts.push(spec);
          throw abandonedWrite('create', ADDRESS, 'no answer');
        },
        get: async () => {
          looks += 1;
          return stage.ledger.get(ADDRESS);
        },
      });
      const leader = stage.lead({ now: clock.now, client, ledger });
      const made = await stage.allocation('vm-0', { spec: isAsked ? { requestedAddress: ADDRESS } : {} });
      await vi.waitFor(() => expect(drafts.length).toBeGreaterThan(0), PATIENCE);
      await stage.remove(made);
      await vi.waitFor(() => expect(looks).toBeGreaterThan(0), PATIENCE);
      return leader;
    }

    test('stays until the record, which comes late, is given back', async () => {
      await using _leader = await abandon();
      expect((await stage.get('vm-0')).metadata.deletionTimestamp).toBeDefined();
      const [draft] = drafts;
      expect(await stage.ledger.create(draft ?? expect.unreachable())).toMatchObject({ taken: true });
      await untilRecords([]);
      clock.turn(61_000);
      await stage.untilGone('vm-0');
    });

    test('is let go when a minute is over and nothing was made', async () => {
      await using _leader = await abandon();
      clock.turn(61_000);
      await stage.untilGone('vm-0');
      expect(await stage.records()).toEqual([]);
    });
  },
);

test('after a restore of etcd an allocation waits, because a number that looks free may be in use', async () => {
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
  let missingForMs = 3_000;
  await using _leader = stage.lead({ recordsMissingForMs: () => missingForMs });
  await stage.allocation('vm-0');
  await stage.says('vm-0', 'Pending', /etcd may have been restored/);
  expect(await stage.records()).toEqual([]);
  missingForMs = 0;
  expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.50' });
});
