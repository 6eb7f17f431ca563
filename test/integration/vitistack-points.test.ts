import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { watchObjects } from '#controller/cluster-view/object-view.ts';
import { RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS, NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import { ALLOCATION_FINALIZER } from '#pkg/vitistack/vitistack-names.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { turnedClock } from '#test/support/turned-clock.ts';
import { type AllocationStage, allocationOf, NAMESPACE, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { machineHands } from './machine-hands.ts';
import { conditionsOf, sure } from './spider-objects.ts';

/**
 * Where Vitistack's page and its operators say nothing, or each something else, we read them in nineteen points. Each is a test here, on
 * a real API server, under its number; the unit tests of the same point name it too. test/house/vitistack-points.test.ts counts them.
 */

let stage: AllocationStage;

beforeAll(async () => {
  stage = await startAllocationStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

const at = (name: string) => ({ namespace: NAMESPACE, name });
const asks = (requestedAddress: string) => ({ spec: { requestedAddress } });
const statusOf = async (name: string) => ((await stage.get(name))['status'] ?? {}) as Record<string, unknown>;
const network = (block: object = {}) => stage.network('prod-network', { ipv4RangeStart: '10.0.2.50', ...block });
const edit = (block: object, more: object = {}) =>
  sure(
    stage.admin.patch(NETWORK_NAMESPACES, at('prod-network'), { spec: { ipAllocation: { static: block, ...more } } }),
  );
const untilRecords = (expected: readonly string[]) =>
  vi.waitFor(async () => expect((await stage.records()).toSorted()).toEqual(expected), PATIENCE);
const machine = (name: string, interfaces: readonly string[] = ['eth0']) =>
  sure(
    stage.admin.create(NETWORK_CONFIGURATIONS, {
      metadata: at(name),
      spec: {
        name: 'vm',
        networkNamespaceName: 'prod-network',
        networkInterfaces: interfaces.map((it, index) => ({ name: it, macAddress: `02:00:00:00:00:0${index}` })),
      },
    }),
  );
const shownBy = async (name: string) => {
  const found = await sure(stage.admin.get(NETWORK_CONFIGURATIONS, at(name)));
  const { networkInterfaces = [] } = (found['status'] ?? {}) as { networkInterfaces?: { ipv4Addresses?: string[] }[] };
  return networkInterfaces.flatMap(({ ipv4Addresses = [] }) => ipv4Addresses);
};
const untilShows = (name: string, addresses: readonly string[]) =>
  vi.waitFor(async () => expect(await shownBy(name)).toEqual(addresses), PATIENCE);
const removeConfiguration = async (name: string) =>
  stage.remove(await sure(stage.admin.get(NETWORK_CONFIGURATIONS, at(name))), NETWORK_CONFIGURATIONS);

test('point 1: the first phase is Pending with a message, at once, and no phase is ever empty again', async () => {
  await network();
  const seen: string[] = [];
  const view = watchObjects(stage.admin, { resource: IP_ALLOCATIONS, onTrouble: () => {} });
  await using _view = view;
  view.onChange((it) => {
    const { phase, message } = (view.get(it)?.['status'] ?? {}) as { phase?: string; message?: string };
    const said = `${phase ?? 'none'} ${message === undefined ? 'without' : 'with'} a message`;
    if (seen.at(-1) !== said) seen.push(said);
  });
  await view.synced;
  await using _leader = stage.lead();
  await stage.allocation('vm');
  await stage.served('vm');
  await vi.waitFor(
    () => expect(seen).toEqual(['none without a message', 'Pending with a message', 'Allocated without a message']),
    PATIENCE,
  );
});

test('point 2: Error does not free the address: a status that says so is put right, and nobody else gets it', async () => {
  await network({ ipv4RangeEnd: '10.0.2.50' });
  await using _leader = stage.lead();
  await stage.allocation('vm');
  await stage.served('vm');
  await stage.setStatus(IP_ALLOCATIONS, 'vm', { phase: 'Error', message: 'the NetworkNamespace cannot be read' });
  await stage.allocation('other');
  await stage.says('other', 'Error', /exhausted/);
  expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
  expect(await stage.records()).toEqual(['10.0.2.50']);
});

test('point 3: a requestedAddress that cannot be is an Error without a substitute, and is tried again when spec or pool change', async () => {
  await network();
  await using _leader = stage.lead();
  await stage.allocation('by-pool', asks('10.0.2.20'));
  await stage.says('by-pool', 'Error', /10\.0\.2\.20 is outside of the range/);
  await stage.allocation('by-spec', asks('10.0.2.255'));
  await stage.says('by-spec', 'Error', /broadcast/);
  expect(await stage.records()).toEqual([]);
  await edit({ ipv4RangeStart: '10.0.2.20' });
  expect(await stage.served('by-pool')).toMatchObject({ address: '10.0.2.20' });
  await sure(stage.admin.patch(IP_ALLOCATIONS, at('by-spec'), asks('10.0.2.60')));
  expect(await stage.served('by-spec')).toMatchObject({ address: '10.0.2.60' });
});

test('point 4: a requestedAddress of another is a conflict until that one lets it go; what our own logic asks for falls back and says so', async () => {
  await network();
  await using _leader = stage.lead();
  const holder = await stage.allocation('holder', asks('10.0.2.77'));
  await stage.served('holder');
  await stage.allocation('waits', asks('10.0.2.77'));
  await stage.says('waits', 'Error', /^conflict: 10\.0\.2\.77 is held by IPAllocation datacenter-01\/holder$/);
  await stage.remove(holder);
  expect(await stage.served('waits')).toMatchObject({ address: '10.0.2.77' });

  const metadata = { annotations: { 'ipledger.io/last-address': '10.0.2.77' } };
  await stage.allocation('remade', { metadata });
  expect(await stage.served('remade')).toMatchObject({
    address: '10.0.2.50',
    message: '10.0.2.77, which it had before, could not be given to it again',
  });
});

test('point 5: a requestedAddress that is changed while Allocated changes nothing, and the message says what to do', async () => {
  await network();
  await using _leader = stage.lead();
  await stage.allocation('vm');
  await stage.served('vm');
  await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm'), asks('10.0.2.99')));
  await stage.says(
    'vm',
    'Allocated',
    /asks for 10\.0\.2\.99 now and keeps 10\.0\.2\.50; delete it and create it again/,
  );
  expect(await stage.records()).toEqual(['10.0.2.50']);
});

test('point 6: the time of an address is renewed, and takes nothing under a living NetworkConfiguration', async () => {
  const clock = turnedClock();
  await network({ ttlSeconds: 60 });
  await using _leader = machineHands(stage).leadAt(clock);
  await stage.allocation('vm');
  const { expiresAt } = await stage.served('vm');
  clock.turn(3_600_000);
  await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm'), { metadata: { annotations: { touched: 'yes' } } }));
  await vi.waitFor(async () => {
    expect(Date.parse(String((await statusOf('vm'))['expiresAt']))).toBeGreaterThan(Date.parse(String(expiresAt)));
  }, PATIENCE);
  expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
  await edit({}, { type: 'dhcp' });
  await stage.says('vm', 'Allocated', /it is of type dhcp; 10\.0\.2\.50 is kept/);
  expect(await stage.records()).toEqual(['10.0.2.50']);
});

test('point 7: a NetworkConfiguration that is named and absent is waited for, and holds no address', async () => {
  await network();
  await using _leader = stage.lead();
  await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf('vm', 'web-server')));
  await stage.says('vm', 'Pending', /waits for NetworkConfiguration web-server, which does not exist/);
  expect(await stage.records()).toEqual([]);
  await stage.configuration('web-server');
  expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
});

test('point 8: missing labels and owner reference are added when the NetworkConfiguration exists, without a controller flag', async () => {
  await network();
  await using _leader = stage.lead();
  await stage.allocation('vm', { metadata: { labels: { mine: 'yes' } } });
  await stage.served('vm');
  const { uid } = (await stage.configuration('vm')).metadata;
  const { labels, ownerReferences } = (await stage.get('vm')).metadata;
  expect(labels).toEqual({
    mine: 'yes',
    'vitistack.io/network-namespace': 'prod-network',
    'vitistack.io/network-configuration': 'vm',
  });
  expect(ownerReferences).toEqual([
    { apiVersion: 'vitistack.io/v1alpha1', kind: 'NetworkConfiguration', name: 'vm', uid },
  ]);
});

test('point 9: at its end a finalizer of ours lets everybody see Released, then the address is free', async () => {
  await network();
  const seen: string[] = [];
  const view = watchObjects(stage.admin, { resource: IP_ALLOCATIONS, onTrouble: () => {} });
  await using _view = view;
  view.onChange((it) => {
    const object = view.get(it);
    const { phase = 'none', address = 'none' } = (object?.['status'] ?? {}) as { phase?: string; address?: string };
    seen.push(object === null ? 'gone' : `${phase} ${address}`);
  });
  await view.synced;
  await using _leader = stage.lead();
  const made = await stage.allocation('vm');
  await stage.served('vm');
  expect((await stage.get('vm')).metadata.finalizers).toEqual([ALLOCATION_FINALIZER]);
  await stage.remove(made);
  await stage.untilGone('vm');
  await vi.waitFor(() => expect(seen.slice(-3)).toEqual(['Allocated 10.0.2.50', 'Released none', 'gone']), PATIENCE);
  await untilRecords([]);
});

test('point 10: deleted by hand while its NetworkConfiguration lives, it is made again and asks for the address that is still shown', async () => {
  await network();
  await using _leader = stage.lead();
  await machine('first');
  await untilShows('first', ['10.0.2.50']);
  await machine('vm');
  await untilShows('vm', ['10.0.2.51']);
  await removeConfiguration('first');
  await untilRecords(['10.0.2.51']);
  const before = await stage.get('vm-eth0');
  await stage.remove(before);
  await vi.waitFor(async () => {
    const { metadata, status } = await stage.get('vm-eth0');
    expect(metadata.uid).not.toBe(before.metadata.uid);
    expect(status).toMatchObject({ phase: 'Allocated', address: '10.0.2.51' });
  }, PATIENCE);
  expect(await stage.records()).toEqual(['10.0.2.51']);
});

test('point 11: a network that is edited keeps its allocations: outside of the range and of the CIDR they are flagged, inside they are refreshed', async () => {
  await network({ ipv4RangeEnd: '10.0.2.51' });
  await using _leader = stage.lead();
  await stage.allocation('one');
  await stage.allocation('two');
  await Promise.all([stage.served('one'), stage.served('two')]);
  await edit({ ipv4RangeStart: '10.0.2.51', dns: ['9.9.9.9'], vlanId: 7, ipv4Gateway: '10.0.2.254' });
  const outside = /10\.0\.2\.50 is outside of the range now; it is kept/;
  const flagged = (await statusOf('one'))['address'] === '10.0.2.50' ? 'one' : 'two';
  await stage.says(flagged, 'Allocated', outside);
  for (const name of ['one', 'two']) {
    await vi.waitFor(async () => {
      expect(await statusOf(name)).toMatchObject({ dns: ['9.9.9.9'], vlanId: 7, gateway: '10.0.2.254' });
    }, PATIENCE);
  }
  // Never below 0, although more are allocated than the range has.
  await vi.waitFor(async () => {
    const { status } = await sure(stage.admin.get(NETWORK_NAMESPACES, at('prod-network')));
    expect(status).toMatchObject({ ipAllocationSummary: { allocatedCount: 2, availableCount: 0, totalCount: 2 } });
  }, PATIENCE);
  await edit({ ipv4CIDR: '10.9.0.0/24', ipv4Gateway: '10.9.0.1', ipv4RangeStart: '', ipv4RangeEnd: '' });
  await stage.says('one', 'Allocated', /is not in 10\.9\.0\.0\/24 any more; it is kept/);
  expect((await stage.records()).toSorted()).toEqual(['10.0.2.50', '10.0.2.51']);
});

test('point 12: a network that is deleted or switched to dhcp is an Error for new ones, and what is there is kept until its NetworkConfiguration goes', async () => {
  await network();
  await using _leader = stage.lead();
  await machine('vm');
  await untilShows('vm', ['10.0.2.50']);
  await edit({}, { type: 'dhcp' });
  await stage.says('vm-eth0', 'Allocated', /it is of type dhcp; 10\.0\.2\.50 is kept/);
  await stage.allocation('late');
  await stage.says('late', 'Error', /it is of type dhcp/);
  await stage.remove(await sure(stage.admin.get(NETWORK_NAMESPACES, at('prod-network'))), NETWORK_NAMESPACES);
  await stage.says('vm-eth0', 'Allocated', /does not exist any more; 10\.0\.2\.50 is kept/);
  await stage.says('late', 'Error', /does not exist/);
  expect(await shownBy('vm')).toEqual(['10.0.2.50']);
  await removeConfiguration('vm');
  await untilRecords([]);
});

test('point 13: networks that overlap in one domain are said in a condition and by an Event, and share no address; in two domains they may', async () => {
  await network({ ipv4RangeEnd: '10.0.2.60' });
  await stage.network('lab-network', { ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '10.0.2.55' });
  const leader = stage.lead();
  await using _leader = leader;
  await stage.allocation('one');
  await stage.allocation('two', { spec: { networkNamespaceName: 'lab-network' } });
  const addresses = [await stage.served('one'), await stage.served('two')].map(({ address }) => address);
  expect(addresses.toSorted()).toEqual(['10.0.2.50', '10.0.2.51']);
  const conditions = async () => {
    const found = await sure(stage.admin.get(NETWORK_NAMESPACES, at('prod-network')));
    return (found['status'] as { conditions?: { type: string; message: string }[] } | undefined)?.conditions ?? [];
  };
  await vi.waitFor(async () => {
    expect(await conditions()).toMatchObject([
      {
        type: 'ipledger.io/Overlap',
        status: 'True',
        reason: 'SharedAddresses',
        message: expect.stringContaining(
          'pool datacenter-01/prod-network and pool datacenter-01/lab-network both hold 10.0.2.50-10.0.2.55',
        ) as string,
      },
    ]);
  }, PATIENCE);
  expect(leader.told.filter(({ reason }) => reason === 'Overlap').length).toBeGreaterThanOrEqual(2);
  // The conditions of other operators stay, and ours goes with its cause.
  const lastTransitionTime = '2026-05-19T10:00:00Z';
  const theirs = { type: 'Ready', status: 'True', reason: 'Provisioned', message: '', lastTransitionTime };
  await stage.setStatus(NETWORK_NAMESPACES, 'prod-network', { conditions: [...(await conditions()), theirs] });
  await sure(
    stage.admin.patch(NETWORK_NAMESPACES, at('lab-network'), {
      spec: { ipAllocation: { static: { ipv4RangeStart: '10.0.2.61', ipv4RangeEnd: '10.0.2.70' } } },
    }),
  );
  await vi.waitFor(async () => {
    const found = await sure(stage.admin.get(NETWORK_NAMESPACES, at('prod-network')));
    expect(conditionsOf(found)).toEqual(['Ready=True/Provisioned']);
  }, PATIENCE);

  const metadata = { annotations: { 'ipledger.io/domain': 'vlan-200' } };
  await stage.network('other-vlan', { ipv4RangeStart: '10.0.2.50' }, { metadata });
  await stage.allocation('three', { spec: { networkNamespaceName: 'other-vlan' } });
  expect(await stage.served('three')).toMatchObject({ address: '10.0.2.50' });
});

test('point 14: an interface without a name or with one that is no name, and names of 253 characters: objects by legal names, labels by hashes, the spec as it is', async () => {
  const long = 'n'.repeat(253);
  await stage.network(long);
  await using _leader = stage.lead();
  const made = (name: string, interfaces: readonly string[]) =>
    sure(
      stage.admin.create(NETWORK_CONFIGURATIONS, {
        metadata: at(name),
        spec: {
          name: 'vm',
          networkNamespaceName: long,
          networkInterfaces: interfaces.map((it, index) => ({ name: it, macAddress: `02:00:00:00:00:0${index}` })),
        },
      }),
    );
  await made('unnamed', ['']);
  await made('odd', ['Eth 0/1', 'ETH_0.1']);
  await made(long, ['eth0']);
  await vi.waitFor(async () => {
    const { items } = await sure(stage.admin.list(IP_ALLOCATIONS));
    expect(items).toHaveLength(4);
    for (const { status } of items) expect(status).toMatchObject({ phase: 'Allocated' });
  }, PATIENCE);
  const { items } = await sure(stage.admin.list(IP_ALLOCATIONS));
  const bySpec = new Map(
    items.map(({ metadata, spec }) => {
      const { networkConfigurationName, interfaceName = '' } = spec as Record<string, string>;
      return [`${networkConfigurationName} ${interfaceName}`, metadata];
    }),
  );
  expect([...bySpec.keys()].toSorted()).toEqual([`${long} eth0`, 'odd ETH_0.1', 'odd Eth 0/1', 'unnamed ']);
  expect(bySpec.get('unnamed ')?.name).toBe('unnamed');
  expect(bySpec.get('odd Eth 0/1')?.name).toMatch(/^odd-eth-0-1-[0-9a-f]+$/);
  expect(bySpec.get(`${long} eth0`)?.name).toHaveLength(253);
  expect(bySpec.get(`${long} eth0`)?.labels).toEqual({
    'vitistack.io/network-namespace': expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    'vitistack.io/network-configuration': expect.stringMatching(/^[0-9a-f]{32}$/) as string,
  });
});

test('point 15: several allocations for one interface have an address each, and the oldest is shown first', async () => {
  await network();
  await using _leader = stage.lead();
  await machine('vm');
  await untilShows('vm', ['10.0.2.50']);
  // Creation times are whole seconds.
  await wait(1_100);
  await stage.allocation('a-second-one', { configuration: 'vm', spec: { interfaceName: 'eth0' } });
  await untilShows('vm', ['10.0.2.50', '10.0.2.51']);
  expect((await stage.records()).toSorted()).toEqual(['10.0.2.50', '10.0.2.51']);
});

test('point 16: prefix from the CIDR; the range from the second usable address to the one before broadcast; gateway, DNS and VLAN where the block has none', async () => {
  const bare = { ipv4CIDR: '10.0.2.5/29', ipv4Gateway: '', vlanId: undefined, dns: [] };
  await stage.network('prod-network', bare);
  await stage.setStatus(NETWORK_NAMESPACES, 'prod-network', { vlanId: 42 });
  await using _leader = stage.lead();
  const names = ['vm-a', 'vm-b', 'vm-c', 'vm-d', 'vm-e'];
  for (const name of names) {
    await stage.allocation(name);
    await stage.served(name);
  }
  expect((await stage.records()).toSorted()).toEqual(['10.0.2.2', '10.0.2.3', '10.0.2.4', '10.0.2.5', '10.0.2.6']);
  expect(await statusOf('vm-a')).toMatchObject({
    address: '10.0.2.2',
    prefix: 29,
    gateway: '10.0.2.1',
    dns: ['10.0.2.1'],
    vlanId: 42,
  });
  await stage.allocation('vm-f');
  await stage.says('vm-f', 'Error', /exhausted: 5\/5/);
});

test('point 17: the total excludes gateway and reserved addresses, so that it is always allocated plus available', async () => {
  await network({ ipv4RangeStart: '10.0.2.250', ipv4Gateway: '10.0.2.254' });
  await sure(stage.admin.create(RESERVED_IPS, { metadata: { name: 'routers' }, spec: { ips: ['10.0.2.251'] } }));
  // Somebody else's, of the same range: in none of the three.
  await stage.ledger.create(specOf('10.0.2.253'));
  await using _leader = stage.lead();
  const summaryIs = (allocatedCount: number, availableCount: number, totalCount: number) =>
    vi.waitFor(async () => {
      const { status } = await sure(stage.admin.get(NETWORK_NAMESPACES, at('prod-network')));
      expect(status).toMatchObject({ ipAllocationSummary: { allocatedCount, availableCount, totalCount } });
    }, PATIENCE);
  await summaryIs(0, 2, 2);
  await stage.allocation('vm');
  await summaryIs(1, 1, 2);
  await stage.allocation('more');
  await summaryIs(2, 0, 2);
  expect((await stage.records()).toSorted()).toEqual(['10.0.2.250', '10.0.2.252', '10.0.2.253']);
});

test('point 18: IPv6 is refused in words, as an address and as a network', async () => {
  await network();
  await using _leader = stage.lead();
  await stage.allocation('asks', asks('fd00::5'));
  await stage.says('asks', 'Error', /"fd00::5" is IPv6; IPAllocations are IPv4 only/);
  await edit({ ipv4Gateway: 'fd00::1' });
  await stage.allocation('other');
  await stage.says('other', 'Error', /ipv4Gateway: fd00::1 is IPv6; IPAllocations are IPv4 only/);
  expect(await stage.records()).toEqual([]);
});

test('point 19: times are RFC 3339 in whole seconds, UTC', async () => {
  await network({ ttlSeconds: 3_600 });
  await using _leader = stage.lead({ now: () => new Date(Math.floor(Date.now() / 1_000) * 1_000 + 789) });
  await machine('vm');
  await untilShows('vm', ['10.0.2.50']);
  const { expiresAt } = await stage.served('vm-eth0');
  expect(expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const found = await sure(stage.admin.get(NETWORK_CONFIGURATIONS, at('vm')));
  const { conditions, networkInterfaces } = found['status'] as Record<string, Record<string, unknown>[]>;
  expect(conditions?.[0]?.['lastTransitionTime']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  expect(networkInterfaces?.[0]?.['allocationExpiry']).toBe(expiresAt);
});
