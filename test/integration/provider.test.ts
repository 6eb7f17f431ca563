import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { adopt } from '#pkg/adopt/adopt.ts';
import { VITISTACK } from '#pkg/adopt/vitistack/vitistack.ts';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import {
  IP_ALLOCATIONS,
  NETWORK_CONFIGURATIONS,
  NETWORK_NAMESPACES,
  SHARED_IPS,
} from '#pkg/kube/objects/vitistack-resources.ts';
import { NAMESPACE, PATIENCE, type ProviderStage, shownIn, startProviderStage } from './provider-stage.ts';
import { sure } from './spider-objects.ts';

let stage: ProviderStage;

beforeAll(async () => {
  stage = await startProviderStage();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

beforeEach(async () => {
  await stage.clear();
});

/** Users allocate by hand, too. */
const allocation = (name: string, configuration: string, spec: object = {}) =>
  sure(
    stage.admin.create(IP_ALLOCATIONS, {
      metadata: { namespace: NAMESPACE, name },
      spec: { networkNamespaceName: 'prod-network', networkConfigurationName: configuration, ...spec },
    }),
  );

const summaryIs = (name: string, allocatedCount: number, availableCount: number) =>
  vi.waitFor(async () => {
    const { ipAllocationSummary } = await stage.statusOf(NETWORK_NAMESPACES, name);
    expect(ipAllocationSummary).toEqual({
      type: 'static',
      provider: 'static-ip-operator',
      allocatedCount,
      availableCount,
      totalCount: allocatedCount + availableCount,
    });
  }, PATIENCE);

test('a NetworkConfiguration lives: allocations, results, a lost one, an interface less, the end', async () => {
  await using _leader = stage.lead();
  await stage.network('prod-network');
  await stage.configuration('first');
  expect(await stage.shows('first', 'Ready')).toEqual(['10.0.2.2']);
  await stage.configuration('web', { interfaces: ['eth0', 'eth1'] });
  const addresses = await stage.shows('web', 'Ready');
  expect(addresses.toSorted()).toEqual(['10.0.2.3', '10.0.2.4']);
  expect(await stage.statusOf(NETWORK_CONFIGURATIONS, 'web')).toMatchObject({
    status: 'Success',
    conditions: [{ type: 'Ready', status: 'True', reason: 'Configured' }],
    networkInterfaces: [
      {
        name: 'eth0',
        macAddress: '02:00:00:00:00:00',
        ipv4Subnet: '10.0.2.0/24',
        ipv4Gateway: '10.0.2.1',
        ipAllocated: true,
        allocationMethod: 'static',
      },
      { name: 'eth1', macAddress: '02:00:00:00:00:01' },
    ],
  });
  await summaryIs('prod-network', 3, 250);
  expect(await stage.statusOf(NETWORK_NAMESPACES, 'prod-network')).toMatchObject({
    ipv4Prefix: '10.0.2.0/24',
    vlanId: 100,
  });

  // A lower address becomes free; the interface still asks for its own.
  await stage.remove(NETWORK_CONFIGURATIONS, 'first');
  const before = (await stage.get(IP_ALLOCATIONS, 'web-eth0'))?.metadata.uid;
  await stage.remove(IP_ALLOCATIONS, 'web-eth0');
  await vi.waitFor(async () => {
    const made = await stage.get(IP_ALLOCATIONS, 'web-eth0');
    expect(made?.metadata.uid).not.toBe(before);
    expect(made?.['status']).toMatchObject({ phase: 'Allocated' });
  }, PATIENCE);
  expect(await stage.shows('web', 'Ready')).toEqual(addresses);

  // Whoever strips the finalizer gets it back while it lives.
  const at = { namespace: NAMESPACE, name: 'web' };
  await sure(stage.admin.patch(NETWORK_CONFIGURATIONS, at, { metadata: { finalizers: [] } }));
  await vi.waitFor(async () => {
    expect((await stage.get(NETWORK_CONFIGURATIONS, 'web'))?.metadata.finalizers).toHaveLength(1);
  }, PATIENCE);

  const networkInterfaces = [{ name: 'eth1', macAddress: '02:00:00:00:00:01' }];
  await sure(stage.admin.patch(NETWORK_CONFIGURATIONS, at, { spec: { networkInterfaces } }));
  await vi.waitFor(async () => expect(await stage.records()).toEqual([`${addresses[1]} web-eth1`]), PATIENCE);
  await summaryIs('prod-network', 1, 252);
  await stage.remove(NETWORK_CONFIGURATIONS, 'web');
  await vi.waitFor(async () => {
    expect([await stage.get(NETWORK_CONFIGURATIONS, 'web'), await stage.allocations(), await stage.records()]).toEqual([
      null,
      [],
      [],
    ]);
  }, PATIENCE);
  await summaryIs('prod-network', 0, 253);
});

test('what others made and own: kept, used, or left alone', async () => {
  await using _leader = stage.lead();
  await stage.network('prod-network');
  // Before its NetworkConfiguration is there; without an interface, as the page has it.
  await allocation('db-server-fixed', 'db', { requestedAddress: '10.0.2.100' });
  await vi.waitFor(async () => expect(await stage.allocations()).toEqual(['db-server-fixed Pending none']), PATIENCE);
  await stage.configuration('db');
  expect(await stage.shows('db', 'Ready')).toEqual(['10.0.2.100']);
  // Two for one interface: one address each, and the one that was shown first stays first.
  await allocation('db-more', 'db', { interfaceName: 'eth0' });
  await vi.waitFor(async () => {
    expect(shownIn(await stage.statusOf(NETWORK_CONFIGURATIONS, 'db'))).toEqual(['10.0.2.100', '10.0.2.2']);
  }, PATIENCE);
  expect(await stage.records()).toEqual(['10.0.2.100 db-server-fixed', '10.0.2.2 db-more']);

  // Names as long as they may be, and of another provider: not one write.
  const long = 'n'.repeat(253);
  const foreign = await stage.configuration('foreign', { spec: { provider: 'kea' } });
  await stage.configuration(long, { spec: { provider: 'Static-IP-Operator', networkNamespaceName: undefined } });
  expect(await stage.shows(long, 'Ready')).toEqual(['10.0.2.3']);
  expect((await stage.get(NETWORK_CONFIGURATIONS, 'foreign'))?.metadata.resourceVersion).toBe(
    foreign.metadata.resourceVersion,
  );
  // The finalizer of an IPAllocation is stripped while it is deleted: the machine keeps its address.
  const fixed = await stage.get(IP_ALLOCATIONS, 'db-server-fixed');
  await sure(
    stage.admin.patch(
      IP_ALLOCATIONS,
      { namespace: NAMESPACE, name: 'db-server-fixed' },
      { metadata: { finalizers: null, uid: fixed?.metadata.uid } },
    ),
  );
  await stage.remove(NETWORK_CONFIGURATIONS, long);
  await vi.waitFor(
    async () => expect((await stage.records()).some((it) => it.startsWith('10.0.2.3 '))).toBe(false),
    PATIENCE,
  );
});

test('addresses of static-ip-operator stay with their machines, and of two that share one nobody is renumbered', async () => {
  await stage.network('prod-network');
  const finalizers = ['vitistack.io/static-ip-finalizer'];
  for (const [name, address] of [
    ['web', '10.0.2.50'],
    ['twin', '10.0.2.50'],
    ['db', '10.0.2.9'],
  ] as const) {
    await stage.configuration(name, { metadata: { finalizers } });
    const shown = { name: 'eth0', ipv4Addresses: [address], ipAllocated: true, allocationMethod: 'static' };
    await stage.replaceStatus(NETWORK_CONFIGURATIONS, name, { phase: 'Ready', networkInterfaces: [shown] });
  }
  const marker = { adoptedAt: 'now', adoptedBy: 'test' };
  expect(await adopt(stage.admin, VITISTACK, { dryRun: false, namespace: 'ipledger', marker })).toMatchObject({
    outcome: 'adopted',
  });
  await using _leader = stage.lead();
  expect(await stage.shows('db', 'Ready')).toEqual(['10.0.2.9']);
  await vi.waitFor(async () => {
    const both = [
      await stage.statusOf(NETWORK_CONFIGURATIONS, 'web'),
      await stage.statusOf(NETWORK_CONFIGURATIONS, 'twin'),
    ];
    expect(both.map(({ phase }) => phase).toSorted()).toEqual(['Error', 'Ready']);
    expect(both.map(shownIn)).toEqual([['10.0.2.50'], ['10.0.2.50']]);
    expect(String(both.find(({ phase }) => phase === 'Error')?.['message'])).toContain(
      '10.0.2.50 is held by IPAllocation',
    );
  }, PATIENCE);
  expect((await stage.records()).length).toBe(2);
  await stage.remove(NETWORK_CONFIGURATIONS, 'db');
  await vi.waitFor(async () => expect(await stage.get(NETWORK_CONFIGURATIONS, 'db')).toBeNull(), PATIENCE);
});

test('an IPAllocation that a quota refuses hides nothing: the status has what the other interface got, and the reason', async () => {
  const QUOTAS: Resource = { group: '', version: 'v1', plural: 'resourcequotas', kind: 'ResourceQuota' };
  const COUNT = 'count/ipallocations.vitistack.io';
  const metadata = { namespace: NAMESPACE, name: 'machines' };
  const quota = await sure(stage.admin.create(QUOTAS, { metadata, spec: { hard: { [COUNT]: '1' } } }));
  // The controller of quotas does not run here.
  const setUse = (hard: number, used: number) =>
    stage.admin.patch(
      QUOTAS,
      metadata,
      { status: { hard: { [COUNT]: `${hard}` }, used: { [COUNT]: `${used}` } } },
      { subresource: 'status' },
    );
  await sure(setUse(1, 0));
  await using _leader = stage.lead();
  await stage.network('prod-network');
  await stage.configuration('web', { interfaces: ['eth0', 'eth1'] });
  await vi.waitFor(async () => {
    const { phase, message } = await stage.statusOf(NETWORK_CONFIGURATIONS, 'web');
    expect(phase).toBe('Error');
    expect(message).toMatch(/^1 of 2 interfaces have an address; .*web-eth1: Forbidden: .*exceeded quota: machines/);
  }, PATIENCE);
  expect(shownIn(await stage.statusOf(NETWORK_CONFIGURATIONS, 'web'))).toEqual(['10.0.2.2']);
  await sure(stage.admin.delete(QUOTAS, { ...metadata, uid: quota.metadata.uid }));
  expect(await stage.shows('web', 'Ready')).toEqual(['10.0.2.2', '10.0.2.3']);
});

test('an edit that changes no address reaches the status too: the generation that was looked at', async () => {
  await using _leader = stage.lead();
  await stage.network('prod-network');
  await stage.configuration('web');
  await stage.shows('web', 'Ready');
  const at = { namespace: NAMESPACE, name: 'web' };
  const edited = await sure(stage.admin.patch(NETWORK_CONFIGURATIONS, at, { spec: { description: 'of the lab' } }));
  expect(edited.metadata.generation).toBe(2);
  await vi.waitFor(async () => {
    expect(await stage.statusOf(NETWORK_CONFIGURATIONS, 'web')).toMatchObject({
      conditions: [{ type: 'Ready', status: 'True', observedGeneration: 2 }],
    });
  }, PATIENCE);
});

test('two leaders at once make one IPAllocation for each interface', async () => {
  await using _one = stage.lead();
  await using _two = stage.lead();
  await stage.network('prod-network');
  const names = Array.from({ length: 12 }, (_, at) => `vm-${at}`);
  await Promise.all(names.map((name) => stage.configuration(name)));
  const addresses = await Promise.all(names.map((name) => stage.shows(name, 'Ready')));
  expect(new Set(addresses.flat()).size).toBe(names.length);
  expect((await stage.allocations()).length).toBe(names.length);
  expect((await stage.records()).length).toBe(names.length);
});

test('another writer replaces whole statuses all the time: few writes, and all is there when he stops', async () => {
  await using _leader = stage.lead();
  await stage.network('prod-network');
  await stage.configuration('web');
  expect(await stage.shows('web', 'Ready')).toEqual(['10.0.2.2']);
  await summaryIs('prod-network', 1, 252);
  const { server } = stage.cluster;
  const patches = (resource: string) =>
    server.requestCount({ resource, subresource: 'status', verb: 'PATCH', group: 'vitistack.io' });
  const before = {
    networks: await patches('networknamespaces'),
    configurations: await patches('networkconfigurations'),
  };
  const ROUNDS = 60;
  for (let round = 0; round < ROUNDS; round += 1) {
    const status = { provisioningPhase: 'Ready', namespaceId: `id-${round}` };
    await stage.replaceStatus(NETWORK_NAMESPACES, 'prod-network', status);
    const created = new Date(1_000 * round).toISOString();
    await stage.replaceStatus(NETWORK_CONFIGURATIONS, 'web', { phase: 'Ready', message: `round ${round}`, created });
    // The other writer's own pace: the test does not wait for anything here.
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect((await patches('networknamespaces')) - before.networks).toBeLessThan(ROUNDS / 4);
  expect((await patches('networkconfigurations')) - before.configurations).toBeLessThan(ROUNDS / 3);
  await summaryIs('prod-network', 1, 252);
  expect(await stage.statusOf(NETWORK_NAMESPACES, 'prod-network')).toMatchObject({ namespaceId: `id-${ROUNDS - 1}` });
  await vi.waitFor(async () => {
    expect(shownIn(await stage.statusOf(NETWORK_CONFIGURATIONS, 'web'))).toEqual(['10.0.2.2']);
  }, PATIENCE);
});

test('a virtual IP of a control plane gets its address, and gives it back', async () => {
  await using _leader = stage.lead();
  await stage.network('prod-network');
  const identifiers = { datacenterIdentifier: 'dc-01', supervisorIdentifier: 'sv-01', environment: 'prod' };
  const metadata = { namespace: NAMESPACE, name: 'blue-vip' };
  await sure(
    stage.admin.create(SHARED_IPS, {
      metadata,
      spec: {
        ...identifiers,
        clusterIdentifier: 'blue',
        networkNamespaceIdentifier: 'prod-network',
        provider: 'static-ip-operator',
      },
    }),
  );
  await vi.waitFor(async () => {
    expect(await stage.statusOf(SHARED_IPS, 'blue-vip')).toMatchObject({
      phase: 'Ready',
      status: 'Synced',
      loadBalancerIps: ['10.0.2.2'],
      method: 'first-alive',
    });
  }, PATIENCE);
  expect(await stage.records()).toEqual(['10.0.2.2 blue-cpvip-vip']);
  const edit = { environment: 'lab', method: 'round-robin', poolMembers: ['10.0.2.9'] };
  await sure(stage.admin.patch(SHARED_IPS, metadata, { spec: edit }));
  await vi.waitFor(async () => {
    expect(await stage.statusOf(SHARED_IPS, 'blue-vip')).toMatchObject({
      ...edit,
      conditions: [{ type: 'Ready', observedGeneration: 2 }],
    });
  }, PATIENCE);
  await stage.remove(SHARED_IPS, 'blue-vip');
  await vi.waitFor(async () => {
    const left = [await stage.get(SHARED_IPS, 'blue-vip'), await stage.get(NETWORK_CONFIGURATIONS, 'blue-cpvip')];
    expect([...left, await stage.records()]).toEqual([null, null, []]);
  }, PATIENCE);
});
