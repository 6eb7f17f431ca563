import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { watchObjects } from '#controller/cluster-view/object-view.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { IP_ALLOCATIONS, NETWORK_CONFIGURATIONS, NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import { callApi } from '#test/support/api-request.ts';
import { kubectl } from '#test/support/manifests.ts';
import { turnedClock } from '#test/support/turned-clock.ts';
import { type AllocationStage, allocationOf, NAMESPACE, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { startGarbageCollector } from './garbage-collector.ts';
import { machineHands } from './machine-hands.ts';
import { sure } from './spider-objects.ts';

/** Each sentence of Vitistack's page "IPAllocation" is a test here, in the order of the page, on a real API server. */

let stage: AllocationStage;

beforeAll(async () => {
  stage = await startAllocationStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

const at = (name: string) => ({ namespace: NAMESPACE, name });
const TTL = 3_600;
const STAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string;

/** The objects of the page, as they are published. */
const TYPICAL = `
apiVersion: vitistack.io/v1alpha2
kind: IPAllocation
metadata:
  name: web-server-01-eth0
  namespace: datacenter-01
  labels:
    vitistack.io/network-namespace: prod-network
    vitistack.io/network-configuration: web-server-01
  ownerReferences:
    - apiVersion: vitistack.io/v1alpha1
      kind: NetworkConfiguration
      name: web-server-01
      uid: "abc-123"
spec:
  networkNamespaceName: prod-network
  networkConfigurationName: web-server-01
  interfaceName: eth0
`;
const FIXED = `
apiVersion: vitistack.io/v1alpha2
kind: IPAllocation
metadata:
  name: db-server-fixed
  namespace: datacenter-01
  labels:
    vitistack.io/network-namespace: prod-network
    vitistack.io/network-configuration: db-server-01
spec:
  networkNamespaceName: prod-network
  networkConfigurationName: db-server-01
  requestedAddress: "10.0.2.100"
`;

async function apply(yaml: string): Promise<void> {
  const file = join(stage.cluster.server.dir, 'page.yaml');
  await writeFile(file, yaml);
  await kubectl(stage.cluster.server, ['apply', `--filename=${file}`]);
}

const run = (...args: string[]) => kubectl(stage.cluster.server, args);
/** The network of the page's example: its first free address is 10.0.2.50. */
const pageNetwork = (block: object = {}) =>
  stage.network('prod-network', { ipv4RangeStart: '10.0.2.50', ttlSeconds: TTL, ...block });
const untilRecords = (expected: readonly string[]) =>
  vi.waitFor(async () => expect((await stage.records()).toSorted()).toEqual(expected), PATIENCE);
const statusOf = async (name: string) => ((await stage.get(name))['status'] ?? {}) as Record<string, unknown>;

/** A NetworkConfiguration with one interface, as a machine's operator makes it. */
const machine = (name: string, spec: object = {}) =>
  sure(
    stage.admin.create(NETWORK_CONFIGURATIONS, {
      metadata: at(name),
      spec: {
        name: name.slice(0, 32),
        networkNamespaceName: 'prod-network',
        networkInterfaces: [{ name: 'eth0', macAddress: '02:00:00:00:00:01' }],
        ...spec,
      },
    }),
  );

/** The phases that each IPAllocation is seen in, as a watch tells. */
async function watchPhases() {
  const seen = new Map<string, string[]>();
  const view = watchObjects(stage.admin, { resource: IP_ALLOCATIONS, onTrouble: () => {} });
  view.onChange(({ name }) => {
    const object = view.get(at(name)) as KubeObject | null;
    const { phase } = (object?.['status'] ?? {}) as { phase?: string };
    const phases = seen.get(name) ?? [];
    if (object === null) seen.set(name, [...phases, 'gone']);
    else if (phase !== undefined && phases.at(-1) !== phase) seen.set(name, [...phases, phase]);
  });
  await view.synced;
  return {
    until: (name: string, phases: readonly string[]) =>
      vi.waitFor(() => expect(seen.get(name)).toEqual(phases), PATIENCE),
    [Symbol.asyncDispose]: () => view[Symbol.asyncDispose](),
  };
}

describe('IPAllocation', () => {
  test('the CRD represents a single IP address allocation within a NetworkNamespace', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    await stage.allocation('web-server-01-eth0', { configuration: 'web-server-01' });
    await stage.served('web-server-01-eth0');
    const records = await stage.ledger.list({ limit: 10 });
    expect(records.map(({ name, spec }) => [name, spec.pool.name, spec.holder.name])).toEqual([
      ['10.0.2.50', 'datacenter-01/prod-network', 'web-server-01-eth0'],
    ]);
  });

  test('it replaces the inline allocatedIPs array from v1alpha1, making each allocation a first-class Kubernetes resource with its own lifecycle', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    const one = await stage.allocation('one', { configuration: 'vm' });
    await stage.allocation('two', { configuration: 'vm' });
    await Promise.all([stage.served('one'), stage.served('two')]);
    await vi.waitFor(async () => {
      const { status } = await sure(stage.admin.get(NETWORK_NAMESPACES, at('prod-network')));
      expect(status).toMatchObject({ ipAllocationSummary: { allocatedCount: 2 } });
      expect(JSON.stringify(status)).not.toContain('allocatedIPs');
    }, PATIENCE);
    await stage.remove(one);
    await stage.untilGone('one');
    expect(await statusOf('two')).toMatchObject({ phase: 'Allocated' });
    expect(await stage.records()).toHaveLength(1);
  });

  test('API version vitistack.io/v1alpha2 is current; IPAllocation is new in v1alpha2, and does not exist in v1alpha1', async () => {
    const { server } = stage.cluster;
    const kindsOf = async (version: string) => {
      const { body } = await callApi(server, { path: `/apis/vitistack.io/${version}`, token: server.adminToken });
      return (body as { resources: { name: string }[] }).resources.map(({ name }) => name);
    };
    expect(await kindsOf('v1alpha2')).toContain('ipallocations');
    expect(await kindsOf('v1alpha1')).not.toContain('ipallocations');
  });
});

describe('design principles', () => {
  test('one resource per allocation: each IP address gets its own IPAllocation, with status tracking and garbage collection of its own', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    await machine('vm', { networkInterfaces: [{ name: 'eth0' }, { name: 'eth1' }] });
    const both = [await stage.served('vm-eth0'), await stage.served('vm-eth1')];
    expect(both.map(({ address }) => address).toSorted()).toEqual(['10.0.2.50', '10.0.2.51']);
    await sure(
      stage.admin.patch(NETWORK_CONFIGURATIONS, at('vm'), { spec: { networkInterfaces: [{ name: 'eth1' }] } }),
    );
    await stage.untilGone('vm-eth0');
    await untilRecords([String(both[1]?.['address'])]);
  });

  test('owner references: each IPAllocation is owned by its NetworkConfiguration, so it is garbage-collected when that is deleted', async () => {
    await using _collector = await startGarbageCollector(stage.cluster);
    await pageNetwork();
    await using phases = await watchPhases();
    await using _leader = stage.lead();
    // Made by a user: our controller never deletes it.
    const configuration = await stage.configuration('db-server-01');
    await apply(FIXED);
    await stage.served('db-server-fixed');
    await stage.remove(configuration, NETWORK_CONFIGURATIONS);
    await vi.waitFor(
      async () => {
        expect(await stage.admin.get(IP_ALLOCATIONS, at('db-server-fixed'))).toMatchObject({ because: 'NotFound' });
      },
      { timeout: 120_000, interval: 200 },
    );
    await phases.until('db-server-fixed', ['Pending', 'Allocated', 'Released', 'gone']);
    await untilRecords([]);
  });

  test('label-based lookups: the standard labels list by NetworkNamespace or NetworkConfiguration, also what was made without them', async () => {
    await pageNetwork();
    await stage.network('lab-network', { ipv4CIDR: '10.0.3.0/24', ipv4Gateway: '10.0.3.1' });
    await using _leader = stage.lead();
    await stage.allocation('one', { configuration: 'web-server-01' });
    await stage.allocation('two', { configuration: 'web-server-02' });
    await stage.allocation('three', { configuration: 'web-server-01', spec: { networkNamespaceName: 'lab-network' } });
    await Promise.all(['one', 'two', 'three'].map((name) => stage.served(name)));
    const named = async (label: string) =>
      (await run('get', 'ipallocations', `--namespace=${NAMESPACE}`, '-l', label, '-o', 'name'))
        .trim()
        .split('\n')
        .map((line) => line.replace('ipallocation.vitistack.io/', ''));
    expect(await named('vitistack.io/network-namespace=prod-network')).toEqual(['one', 'two']);
    expect(await named('vitistack.io/network-configuration=web-server-01')).toEqual(['one', 'three']);
  });
});

describe('resource definition', () => {
  test.each([
    { field: 'networkNamespaceName', value: undefined, isAccepted: false },
    { field: 'networkConfigurationName', value: undefined, isAccepted: false },
    { field: 'interfaceName', value: undefined, isAccepted: true },
    { field: 'requestedAddress', value: undefined, isAccepted: true },
    { field: 'networkNamespaceName', value: '', isAccepted: false },
    { field: 'networkConfigurationName', value: '', isAccepted: false },
    { field: 'requestedAddress', value: 'soon', isAccepted: false },
  ])('spec.$field as $value: accepted is $isAccepted', async ({ field, value, isAccepted }) => {
    const { metadata, spec } = allocationOf('vm', 'vm', { interfaceName: 'eth0', requestedAddress: '10.0.2.100' });
    const body = { metadata, spec: JSON.parse(JSON.stringify({ ...spec, [field]: value })) as object };
    expect((await stage.admin.create(IP_ALLOCATIONS, body)).ok).toBe(isAccepted);
  });

  test.each([
    { field: 'phase', right: 'Allocated', wrong: 'Lost' },
    { field: 'address', right: '10.0.2.50', wrong: 50 },
    { field: 'gateway', right: '10.0.2.1', wrong: 1 },
    { field: 'prefix', right: 24, wrong: '24' },
    { field: 'vlanId', right: 100, wrong: '100' },
    { field: 'dns', right: ['8.8.8.8'], wrong: '8.8.8.8' },
    { field: 'expiresAt', right: '2026-05-19T10:00:00Z', wrong: 1 },
    { field: 'message', right: 'words', wrong: 1 },
  ])('status.$field is $right, and not $wrong', async ({ field, right, wrong }) => {
    await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf('vm', 'vm')));
    const write = (value: unknown) =>
      stage.admin.patch(IP_ALLOCATIONS, at('vm'), { status: { [field]: value } }, { subresource: 'status' });
    expect(await write(wrong)).toMatchObject({ ok: false });
    expect((await sure(write(right)))['status']).toEqual({ [field]: right });
  });
});

describe('lifecycle', () => {
  test('Pending: IPAllocation created; Pending to Allocated: address assigned', async () => {
    await pageNetwork();
    await using phases = await watchPhases();
    await using _leader = stage.lead();
    await stage.allocation('vm');
    await phases.until('vm', ['Pending', 'Allocated']);
  });

  test.each([
    {
      name: 'pool exhausted',
      spec: {},
      says: /is exhausted: 1\/1 addresses are in use \(10\.0\.2\.50 by IPAllocation/,
    },
    {
      name: 'conflict',
      spec: { requestedAddress: '10.0.2.50' },
      says: /conflict: 10\.0\.2\.50 is held by IPAllocation datacenter-01\/first/,
    },
  ])('Pending to Error: $name; Error to Pending: reconcile retry', async ({ spec, says }) => {
    await pageNetwork({ ipv4RangeEnd: '10.0.2.50' });
    await using phases = await watchPhases();
    await using _leader = stage.lead();
    const first = await stage.allocation('first');
    await stage.served('first');
    await stage.configuration('second');
    await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf('second', 'second', spec)));
    await stage.says('second', 'Error', says);
    await stage.remove(first);
    await phases.until('second', ['Pending', 'Error', 'Pending', 'Allocated']);
  });

  test('Allocated to Released: NetworkConfiguration deleted; Released to the end: garbage collected', async () => {
    await pageNetwork();
    await using phases = await watchPhases();
    await using _leader = stage.lead();
    const configuration = await machine('vm');
    await stage.served('vm-eth0');
    await stage.remove(configuration, NETWORK_CONFIGURATIONS);
    await phases.until('vm-eth0', ['Pending', 'Allocated', 'Released', 'gone']);
    await untilRecords([]);
  });
});

describe('phases', () => {
  test('Pending: allocation requested but not yet fulfilled', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf('new-server-eth0', 'new-server')));
    await stage.says('new-server-eth0', 'Pending', /waits for NetworkConfiguration new-server/);
    expect(await statusOf('new-server-eth0')).not.toHaveProperty('address');
    expect(await stage.records()).toEqual([]);
  });

  test('Allocated: IP address successfully assigned, status.address is populated', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    await stage.allocation('vm');
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
  });

  test('Released: the allocation has been released because the NetworkConfiguration is deleted, and will be garbage-collected', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    const configuration = await machine('vm');
    await stage.served('vm-eth0');
    // Kept for a look by somebody else's finalizer, which is removed at the end.
    const { metadata } = await stage.get('vm-eth0');
    const finalizers = [...(metadata.finalizers ?? []), 'a.test/hold'];
    await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm-eth0'), { metadata: { finalizers } }));
    await stage.remove(configuration, NETWORK_CONFIGURATIONS);
    await vi.waitFor(async () => {
      expect((await stage.get('vm-eth0')).metadata.deletionTimestamp).toBeDefined();
    }, PATIENCE);
    // Whoever holds it with a finalizer still uses its address.
    expect(await stage.records()).toEqual(['10.0.2.50']);
    await using phases = await watchPhases();
    await sure(
      stage.admin.patch(IP_ALLOCATIONS, at('vm-eth0'), { metadata: { finalizers: metadata.finalizers ?? [] } }),
    );
    await phases.until('vm-eth0', ['Allocated', 'Released', 'gone']);
    await untilRecords([]);
  });

  test('Error: allocation failed, see status.message for details', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    await stage.allocation('vm', { spec: { requestedAddress: '10.0.2.1' } });
    expect(await stage.says('vm', 'Error')).toBe('10.0.2.1 is the gateway');
  });
});

describe('usage examples', () => {
  test('typical allocation: as published it gets the published status, and the uid of the NetworkConfiguration that is there', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    const configuration = await stage.configuration('web-server-01');
    await apply(TYPICAL);
    expect(await stage.served('web-server-01-eth0')).toEqual({
      phase: 'Allocated',
      address: '10.0.2.50',
      gateway: '10.0.2.1',
      prefix: 24,
      vlanId: 100,
      dns: ['8.8.8.8', '8.8.4.4'],
      expiresAt: STAMP,
    });
    expect((await stage.get('web-server-01-eth0')).metadata.ownerReferences).toEqual([
      {
        apiVersion: 'vitistack.io/v1alpha1',
        kind: 'NetworkConfiguration',
        name: 'web-server-01',
        uid: configuration.metadata.uid,
      },
    ]);
  });

  test('requesting a specific address: as published it gets 10.0.2.100', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    await stage.configuration('db-server-01');
    await apply(FIXED);
    expect(await stage.served('db-server-fixed')).toMatchObject({ address: '10.0.2.100' });
  });

  test('the allocator honors the request if the address is within the pool range and not already allocated', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    const asks = (name: string, requestedAddress: string) => stage.allocation(name, { spec: { requestedAddress } });
    await asks('right', '10.0.2.77');
    expect(await stage.served('right')).toMatchObject({ address: '10.0.2.77' });
    await asks('outside', '10.0.2.49');
    await stage.says('outside', 'Error', /10\.0\.2\.49 is outside of the range/);
    await asks('taken', '10.0.2.77');
    await stage.says('taken', 'Error', /10\.0\.2\.77 is held by IPAllocation datacenter-01\/right/);
    expect(await stage.records()).toEqual(['10.0.2.77']);
  });
});

describe('labels', () => {
  test('IPAllocations carry the standard labels for efficient querying: the parent NetworkNamespace and NetworkConfiguration', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    await stage.allocation('web-server-01-eth0', { configuration: 'web-server-01' });
    await stage.served('web-server-01-eth0');
    expect((await stage.get('web-server-01-eth0')).metadata.labels).toEqual({
      'vitistack.io/network-namespace': 'prod-network',
      'vitistack.io/network-configuration': 'web-server-01',
    });
  });

  test("the published kubectl get commands print the page's columns", async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    await stage.configuration('web-server-01');
    await stage.configuration('db-server-01');
    await apply(TYPICAL);
    await apply(FIXED);
    const labels = {
      'vitistack.io/network-namespace': 'prod-network',
      'vitistack.io/network-configuration': 'new-server',
    };
    await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf('new-server-eth0', 'new-server', {}, { labels })));
    await Promise.all([stage.served('web-server-01-eth0'), stage.served('db-server-fixed')]);
    await stage.says('new-server-eth0', 'Pending');
    // The Table that the API server makes of them, from which kubectl prints.
    const table = await sure(stage.admin.listTable(IP_ALLOCATIONS, { namespace: NAMESPACE }));
    const age = expect.stringMatching(/^\d+s$/) as string;
    expect(table.columns.map((it) => it.toUpperCase())).toEqual([
      'NAME',
      'ADDRESS',
      'NETWORKNAMESPACE',
      'NETWORKCONFIGURATION',
      'PHASE',
      'AGE',
    ]);
    expect(table.rows).toEqual([
      ['db-server-fixed', '10.0.2.100', 'prod-network', 'db-server-01', 'Allocated', age],
      ['new-server-eth0', null, 'prod-network', 'new-server', 'Pending', age],
      ['web-server-01-eth0', '10.0.2.50', 'prod-network', 'web-server-01', 'Allocated', age],
    ]);
    const print = async (label: string) => {
      const printed = await run('get', 'ipallocations', '-l', label, `--namespace=${NAMESPACE}`);
      const [head = '', ...lines] = printed.trimEnd().split('\n');
      return [head.split(/\s+/), ...lines.map((line) => line.split(/\s+/)[0])];
    };
    const columns = ['NAME', 'ADDRESS', 'NETWORKNAMESPACE', 'NETWORKCONFIGURATION', 'PHASE', 'AGE'];
    expect(await print('vitistack.io/network-namespace=prod-network')).toEqual([
      columns,
      'db-server-fixed',
      'new-server-eth0',
      'web-server-01-eth0',
    ]);
    expect(await print('vitistack.io/network-configuration=web-server-01')).toEqual([columns, 'web-server-01-eth0']);
  });
});

describe('operator responsibilities of static-ip-operator', () => {
  test('it watches NetworkConfigurations, and for one that references a static NetworkNamespace it creates an IPAllocation', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    const configuration = await machine('web-server-01');
    await stage.served('web-server-01-eth0');
    const { metadata, spec } = await stage.get('web-server-01-eth0');
    expect(spec).toEqual({
      networkNamespaceName: 'prod-network',
      networkConfigurationName: 'web-server-01',
      interfaceName: 'eth0',
    });
    expect(metadata.ownerReferences).toMatchObject([{ uid: configuration.metadata.uid }]);
  });

  test('it allocates the next available IP from the pool, or the requested address', async () => {
    await pageNetwork();
    await using _leader = stage.lead();
    await stage.allocation('one');
    expect(await stage.served('one')).toMatchObject({ address: '10.0.2.50' });
    await stage.allocation('two', { spec: { requestedAddress: '10.0.2.52' } });
    expect(await stage.served('two')).toMatchObject({ address: '10.0.2.52' });
    await stage.allocation('three');
    expect(await stage.served('three')).toMatchObject({ address: '10.0.2.51' });
    await stage.allocation('four');
    expect(await stage.served('four')).toMatchObject({ address: '10.0.2.53' });
  });

  test('it updates status.phase to Allocated with the assigned address details', async () => {
    await pageNetwork({ ipv4Gateway: '10.0.2.254', vlanId: 7, dns: ['9.9.9.9'] });
    await using _leader = stage.lead();
    await stage.allocation('vm');
    expect(await stage.served('vm')).toEqual({
      phase: 'Allocated',
      address: '10.0.2.50',
      gateway: '10.0.2.254',
      prefix: 24,
      vlanId: 7,
      dns: ['9.9.9.9'],
      expiresAt: STAMP,
    });
  });

  test('it handles TTL expiry and re-allocation', async () => {
    const clock = turnedClock();
    await pageNetwork({ ttlSeconds: 60 });
    const touch = (value: string) =>
      sure(stage.admin.patch(IP_ALLOCATIONS, at('vm'), { metadata: { annotations: { touched: value } } }));
    {
      await using _leader = machineHands(stage).leadAt(clock);
      await stage.allocation('vm');
      const { expiresAt } = await stage.served('vm');
      // Its NetworkConfiguration lives: the time is renewed.
      clock.turn(120_000);
      await touch('once');
      await vi.waitFor(async () => {
        expect(Date.parse(String((await statusOf('vm'))['expiresAt']))).toBeGreaterThan(Date.parse(String(expiresAt)));
      }, PATIENCE);
    }
    // It is gone, and the time is over: the address is free.
    const configuration = await sure(stage.admin.get(NETWORK_CONFIGURATIONS, at('vm')));
    await sure(stage.admin.patch(IP_ALLOCATIONS, at('vm'), { metadata: { ownerReferences: null } }));
    await stage.remove(configuration, NETWORK_CONFIGURATIONS);
    clock.turn(3_600_000);
    await using _leader = machineHands(stage).leadAt(clock);
    await stage.says('vm', 'Allocated', /NetworkConfiguration vm is gone/);
    clock.turn(61_000);
    await touch('again');
    await stage.says('vm', 'Released', /10\.0\.2\.50 was given back/);
    await untilRecords([]);
    // It is back: the address is allocated again.
    await stage.configuration('vm');
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
  });
});

describe('operator responsibilities of kea-operator', () => {
  test('for DHCP no IPAllocation is created, and the counts that are computed from Kea leases are left alone', async () => {
    await stage.network('prod-network', {}, { allocation: { type: 'dhcp', provider: 'kea' } });
    const counts = { type: 'dhcp', provider: 'kea', allocatedCount: 7, availableCount: 3, totalCount: 10 };
    await stage.setStatus(NETWORK_NAMESPACES, 'prod-network', { ipAllocationSummary: counts });
    await stage.network('static-network', { ipv4CIDR: '10.0.3.0/24', ipv4Gateway: '10.0.3.1' });
    await using _leader = stage.lead();
    const byKea = await machine('by-kea');
    await machine('by-us', { networkNamespaceName: 'static-network' });
    await stage.served('by-us-eth0');
    await vi.waitFor(async () => {
      const { status } = await sure(stage.admin.get(NETWORK_NAMESPACES, at('static-network')));
      expect(status).toMatchObject({ ipAllocationSummary: { allocatedCount: 1 } });
    }, PATIENCE);
    const { items } = await sure(stage.admin.list(IP_ALLOCATIONS));
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['by-us-eth0']);
    const dhcp = await sure(stage.admin.get(NETWORK_NAMESPACES, at('prod-network')));
    expect(dhcp['status']).toEqual({ ipAllocationSummary: counts });
    const untouched = await sure(stage.admin.get(NETWORK_CONFIGURATIONS, at('by-kea')));
    expect(untouched.metadata.resourceVersion).toBe(byKea.metadata.resourceVersion);
  });
});

describe('relationship to NetworkNamespace', () => {
  const summaryIs = (summary: object) =>
    vi.waitFor(async () => {
      const { status } = await sure(stage.admin.get(NETWORK_NAMESPACES, at('prod-network')));
      expect((status as { ipAllocationSummary?: object }).ipAllocationSummary).toEqual(summary);
    }, PATIENCE);
  const PUBLISHED = {
    type: 'static',
    provider: 'static-ip-operator',
    allocatedCount: 15,
    availableCount: 235,
    totalCount: 250,
  };

  test('the summary provides aggregate counts computed from individual IPAllocations: those of the page, 15 of 250', async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.5' });
    await using _leader = stage.lead();
    const names = Array.from({ length: 15 }, (_, index) => `vm-${index}`);
    await Promise.all(names.map((name) => stage.allocation(name)));
    await summaryIs(PUBLISHED);
  });

  test('it is a read-only projection: the source of truth is the set of IPAllocations, whatever somebody writes into it', async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    await using _leader = stage.lead();
    await stage.allocation('vm-0');
    await stage.served('vm-0');
    const right = { ...PUBLISHED, allocatedCount: 1, availableCount: 204, totalCount: 205 };
    await summaryIs(right);
    const full = { ...PUBLISHED, allocatedCount: 205, availableCount: 0, totalCount: 205 };
    await stage.setStatus(NETWORK_NAMESPACES, 'prod-network', { ipAllocationSummary: full });
    await stage.allocation('vm-1');
    expect(await stage.served('vm-1')).toMatchObject({ address: '10.0.2.51' });
    await summaryIs({ ...right, allocatedCount: 2, availableCount: 203 });
  });
});

test('docs/vitistack.md: its first example prints what the page prints', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/vitistack.md'), 'utf8');
  const [, yaml = ''] = /## The simplest case[\s\S]*?```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  const [, shown = ''] = /## The simplest case[\s\S]*?```\n(\$ kubectl[\s\S]*?)```/.exec(page) ?? [];
  await using _leader = stage.lead();
  await apply(yaml);
  await stage.served('web-server-01-eth0');
  await stage.served('db-server-fixed');
  const withoutAge = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/\s+(AGE|\d+s)$/, '').split(/\s+/));
  const commands = shown.split(/^\$ kubectl /m).slice(1);
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    const [args = '', ...lines] = command.trimEnd().split('\n');
    expect(withoutAge(await run(...args.split(' ')))).toEqual(withoutAge(lines.join('\n')));
  }
});
