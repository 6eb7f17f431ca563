import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { watchObjects } from '#controller/cluster-view/object-view.ts';
import { POOLS, RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import { IP_ALLOCATIONS, NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import { specOf } from '#test/contract/record-spec.ts';
import { kubectl } from '#test/support/manifests.ts';
import { type AllocationStage, allocationOf, NAMESPACE, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { expectNoReads, tallyRequests } from './request-tally.ts';
import { poolOf, sure } from './spider-objects.ts';

let stage: AllocationStage;

beforeAll(async () => {
  stage = await startAllocationStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

const at = (name: string) => ({ namespace: NAMESPACE, name });
const fixed = (requestedAddress: string) => ({ spec: { requestedAddress } });

async function phaseOf(name: string): Promise<unknown> {
  const { status } = await stage.get(name);
  return (status as { phase?: unknown } | undefined)?.phase;
}

/** The phases that each IPAllocation was seen in, as a watch tells. */
function watchPhases() {
  const seen = new Map<string, string[]>();
  const view = watchObjects(stage.admin, { resource: IP_ALLOCATIONS, onTrouble: () => {} });
  view.onChange((it) => {
    const { phase } = (view.get(it)?.['status'] ?? {}) as { phase?: string };
    const phases = seen.get(it.name) ?? [];
    if (phase !== undefined && phases.at(-1) !== phase) seen.set(it.name, [...phases, phase]);
  });
  return { view, of: (name: string) => seen.get(name) ?? [] };
}

describe('seed 004, the page of IPAllocation', () => {
  test('one resource per allocation: Pending, then Allocated with address, gateway, prefix, vlanId, dns and expiresAt', async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50', ttlSeconds: 3_600 });
    const { view, of } = watchPhases();
    await using _view = view;
    await using _leader = stage.lead();
    await stage.allocation('web-server-01-eth0', { configuration: 'web-server-01', spec: { interfaceName: 'eth0' } });
    const status = await stage.served('web-server-01-eth0');
    expect(status).toEqual({
      phase: 'Allocated',
      address: '10.0.2.50',
      gateway: '10.0.2.1',
      prefix: 24,
      vlanId: 100,
      dns: ['8.8.8.8', '8.8.4.4'],
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
    });
    const inMs = Date.parse(String(status['expiresAt'])) - Date.now();
    expect(inMs).toBeGreaterThan(3_500_000);
    await vi.waitFor(() => expect(of('web-server-01-eth0')).toEqual(['Pending', 'Allocated']), PATIENCE);
    const [record] = await stage.ledger.list({ limit: 10 });
    expect(record?.spec).toMatchObject({
      pool: { kind: 'NetworkNamespace', name: 'datacenter-01/prod-network' },
      holder: {
        kind: 'IPAllocation',
        namespace: NAMESPACE,
        name: 'web-server-01-eth0',
        owner: { name: 'web-server-01' },
      },
    });
  });

  test('owner references and standard labels are added where they are missing, and the NetworkConfiguration owns it', async () => {
    await stage.network('prod-network');
    await using _leader = stage.lead();
    const configuration = await stage.configuration('db-server-01');
    await stage.allocation('db-server-fixed', {
      configuration: 'db-server-01',
      spec: { requestedAddress: '10.0.2.100' },
    });
    expect(await stage.served('db-server-fixed')).toMatchObject({ address: '10.0.2.100' });
    const { metadata } = await stage.get('db-server-fixed');
    expect(metadata.labels).toEqual({
      'vitistack.io/network-namespace': 'prod-network',
      'vitistack.io/network-configuration': 'db-server-01',
    });
    expect(metadata.ownerReferences).toEqual([
      {
        apiVersion: 'vitistack.io/v1alpha1',
        kind: 'NetworkConfiguration',
        name: 'db-server-01',
        uid: configuration.metadata.uid,
      },
    ]);
  });

  test("listing by the labels prints the page's columns", async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    await using _leader = stage.lead();
    await stage.allocation('web-server-01-eth0', { configuration: 'web-server-01' });
    await stage.allocation('db-server-fixed', { configuration: 'db-server-01', ...fixed('10.0.2.100') });
    await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf('new-server-eth0', 'new-server')));
    await Promise.all([stage.served('web-server-01-eth0'), stage.served('db-server-fixed')]);
    await stage.says('new-server-eth0', 'Pending', /waits for NetworkConfiguration new-server/);
    const list = (...args: string[]) =>
      kubectl(stage.cluster.server, ['get', 'ipallocations', `--namespace=${NAMESPACE}`, ...args]);
    const rows = (await list())
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/\s{2,}/).slice(0, 5));
    expect(rows).toEqual([
      ['NAME', 'ADDRESS', 'NETWORKNAMESPACE', 'NETWORKCONFIGURATION', 'PHASE'],
      ['db-server-fixed', '10.0.2.100', 'prod-network', 'db-server-01', 'Allocated'],
      // kubectl leaves a cell without a value empty.
      ['new-server-eth0', 'prod-network', 'new-server', 'Pending', expect.stringMatching(/^\d+s$/)],
      ['web-server-01-eth0', '10.0.2.50', 'prod-network', 'web-server-01', 'Allocated'],
    ]);
    expect(await list('-l', 'vitistack.io/network-namespace=prod-network', '-o', 'name')).toContain('/db-server-fixed');
    expect(await list('-l', 'vitistack.io/network-configuration=web-server-01', '-o', 'name')).toBe(
      'ipallocation.vitistack.io/web-server-01-eth0\n',
    );
    expect(await kubectl(stage.cluster.server, ['get', 'ipa', `--namespace=${NAMESPACE}`, '-o', 'name'])).toContain(
      'web',
    );
  });

  test('deleted: Released, then the address is free, then it is gone', async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    const { view, of } = watchPhases();
    await using _view = view;
    await using _leader = stage.lead();
    const allocation = await stage.allocation('vm-0');
    await stage.served('vm-0');
    await stage.remove(allocation);
    await stage.untilGone('vm-0');
    await vi.waitFor(() => expect(of('vm-0')).toEqual(['Pending', 'Allocated', 'Released']), PATIENCE);
    expect(await stage.records()).toEqual([]);
    await stage.allocation('vm-1');
    expect(await stage.served('vm-1')).toMatchObject({ address: '10.0.2.50' });
  });

  test('pool exhausted or conflict is an Error that says so, and Error goes back over Pending to Allocated', async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '10.0.2.50' });
    const { view, of } = watchPhases();
    await using _view = view;
    const leader = stage.lead();
    await using _leader = leader;
    const first = await stage.allocation('vm-0');
    await stage.served('vm-0');
    await stage.allocation('vm-1');
    await stage.allocation('vm-2', fixed('10.0.2.50'));
    await stage.says('vm-1', 'Error', /NetworkNamespace prod-network is exhausted: 1\/1 addresses are in use/);
    await stage.says('vm-2', 'Error', /conflict: 10\.0\.2\.50 is held by IPAllocation datacenter-01\/vm-0/);
    expect(leader.told.map(({ note }) => note).join('\n')).toContain('is exhausted');
    await stage.remove(first);
    // Whoever is faster has it, and the other one says so.
    await vi.waitFor(async () => {
      const phases = [await phaseOf('vm-1'), await phaseOf('vm-2')];
      expect(phases.toSorted()).toEqual(['Allocated', 'Error']);
    }, PATIENCE);
    const winner = (await phaseOf('vm-1')) === 'Allocated' ? 'vm-1' : 'vm-2';
    await vi.waitFor(() => expect(of(winner).slice(-3)).toEqual(['Error', 'Pending', 'Allocated']), PATIENCE);
  });
});

describe('the kind that we ship', () => {
  test.each([
    {
      name: 'a requestedAddress that is none',
      spec: { requestedAddress: 'ten' },
      says: /requestedAddress.*is not an IP address/,
    },
    { name: 'no NetworkNamespace', spec: { networkNamespaceName: '' }, says: /networkNamespaceName/ },
    { name: 'no NetworkConfiguration', spec: { networkConfigurationName: '' }, says: /networkConfigurationName/ },
  ])('refuses $name', async ({ spec, says }) => {
    const outcome = await stage.admin.create(IP_ALLOCATIONS, allocationOf('vm-0', 'vm-0', spec));
    expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(says) as string });
  });

  test('refuses a phase that is none of the four', async () => {
    await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf('vm-0', 'vm-0')));
    const status = { phase: 'Lost' };
    const outcome = await stage.admin.patch(IP_ALLOCATIONS, at('vm-0'), { status }, { subresource: 'status' });
    expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(/status\.phase/) as string });
  });
});

describe('what is given', () => {
  test('the lowest free first, not what is reserved; a reservation that goes lets its address be asked for', async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    const reserved = await sure(
      stage.admin.create(RESERVED_IPS, {
        metadata: { name: 'routers' },
        spec: { ips: ['10.0.2.50-10.0.2.51', '10.0.2.60'] },
      }),
    );
    await using _leader = stage.lead();
    await stage.allocation('vm-0');
    expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.52' });
    await stage.allocation('vm-1', fixed('10.0.2.60'));
    await stage.says('vm-1', 'Error', /10\.0\.2\.60 is reserved by a SpiderReservedIP/);
    await stage.allocation('vm-2', fixed('fd00::5'));
    await stage.says('vm-2', 'Error', /IPv6; IPAllocations are IPv4 only/);
    const { uid } = reserved.metadata;
    await sure(stage.admin.patch(RESERVED_IPS, { name: 'routers' }, { metadata: { finalizers: null } }));
    await sure(stage.admin.delete(RESERVED_IPS, { name: 'routers', uid }));
    expect(await stage.served('vm-1')).toMatchObject({ address: '10.0.2.60' });
  });

  test('an address of a pod is never given: ranges that overlap are told of by an Event', async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    const pods = await sure(
      stage.admin.create(POOLS, poolOf('pods', { subnet: '10.0.2.0/24', ips: ['10.0.2.50-10.0.2.60'] })),
    );
    await stage.ledger.create(specOf('10.0.2.50'));
    const leader = stage.lead();
    await using _leader = leader;
    await stage.allocation('vm-0');
    expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.51' });
    await vi.waitFor(() => {
      const { note, regarding } = leader.told.find(({ reason }) => reason === 'Overlap') ?? {};
      expect(regarding).toMatchObject({ kind: 'NetworkNamespace', name: 'prod-network' });
      expect(note).toMatch(/datacenter-01\/prod-network and pool pods both hold 10\.0\.2\.50-10\.0\.2\.60/);
    }, PATIENCE);
    await sure(stage.admin.patch(POOLS, { name: 'pods' }, { metadata: { finalizers: null } }));
    await sure(stage.admin.delete(POOLS, { name: 'pods', uid: pods.metadata.uid }));
  });

  test('point 13: networks of two domains may give the same number', async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    const annotations = { 'ipledger.io/domain': 'vlan-200' };
    await stage.network('lab-network', { ipv4RangeStart: '10.0.2.50' }, { metadata: { annotations } });
    await using _leader = stage.lead();
    await stage.allocation('vm-0');
    await stage.allocation('vm-1', { spec: { networkNamespaceName: 'lab-network' } });
    expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.50' });
    expect(await stage.served('vm-1')).toMatchObject({ address: '10.0.2.50' });
    expect((await stage.records()).toSorted()).toEqual(['10.0.2.50', '10.0.2.50.vlan-200']);
  });

  test('point 15: two allocations for one interface have an address each; names of 253 characters are hashed as labels', async () => {
    const long = `${'n'.repeat(60)}.`.repeat(4).padEnd(253, 'x').slice(0, 253);
    await stage.network(long);
    await using _leader = stage.lead();
    const spec = { networkNamespaceName: long, interfaceName: 'eth0' };
    await stage.allocation(long, { configuration: long, spec });
    await stage.allocation('other', { configuration: long, spec });
    const addresses = [await stage.served(long), await stage.served('other')].map(({ address }) => address);
    expect(new Set(addresses).size).toBe(2);
    const { labels } = (await stage.get(long)).metadata;
    expect(labels?.['vitistack.io/network-namespace']).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('what comes late', () => {
  test('NetworkNamespace, its provisioning, its static block and the NetworkConfiguration: each is waited for in words', async () => {
    await using _leader = stage.lead();
    await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf('vm-0', 'vm-0')));
    await stage.says('vm-0', 'Error', /NetworkNamespace prod-network does not exist/);
    await stage.network('prod-network', {}, { allocation: { type: 'dhcp' } });
    await stage.says('vm-0', 'Error', /it is of type dhcp/);
    const change = {
      spec: { ipAllocation: { type: 'static', static: { ipv4RangeStart: '10.0.2.60', ipv4RangeEnd: '10.0.2.50' } } },
    };
    await sure(stage.admin.patch(NETWORK_NAMESPACES, at('prod-network'), change));
    await stage.says('vm-0', 'Error', /10\.0\.2\.60 is after the end of the range/);
    await stage.setStatus(NETWORK_NAMESPACES, 'prod-network', { provisioningPhase: 'Pending' });
    await stage.says('vm-0', 'Pending', /waits until NetworkNamespace prod-network is provisioned/);
    const right = { spec: { ipAllocation: { static: { ipv4RangeEnd: '10.0.2.70' } } } };
    await sure(stage.admin.patch(NETWORK_NAMESPACES, at('prod-network'), right));
    await stage.setStatus(NETWORK_NAMESPACES, 'prod-network', { provisioningPhase: 'Ready' });
    await stage.says('vm-0', 'Pending', /waits for NetworkConfiguration vm-0/);
    expect(await stage.records()).toEqual([]);
    await stage.configuration('vm-0');
    expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.60' });
  });

  test('points 11 and 12: a network that is shrunk, re-addressed, switched to dhcp or deleted leaves its allocations their addresses', async () => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    await using _leader = stage.lead();
    await stage.allocation('vm-0');
    await stage.served('vm-0');
    const edit = (block: object, more: object = {}) =>
      sure(
        stage.admin.patch(NETWORK_NAMESPACES, at('prod-network'), {
          spec: { ipAllocation: { static: block, ...more } },
        }),
      );
    await edit({ ipv4RangeStart: '10.0.2.100', dns: ['9.9.9.9'] });
    await stage.says('vm-0', 'Allocated', /10\.0\.2\.50 is outside of the range now/);
    expect(await stage.served('vm-0')).toMatchObject({ address: '10.0.2.50', dns: ['9.9.9.9'] });
    await edit({ ipv4CIDR: '10.9.0.0/24', ipv4Gateway: '10.9.0.1', ipv4RangeStart: '10.9.0.5' });
    await stage.says('vm-0', 'Allocated', /is not in 10\.9\.0\.0\/24 any more/);
    await stage.allocation('vm-1');
    expect(await stage.served('vm-1')).toMatchObject({ address: '10.9.0.5', gateway: '10.9.0.1' });
    await edit({}, { type: 'dhcp' });
    await stage.says('vm-0', 'Allocated', /it is of type dhcp; 10\.0\.2\.50 is kept/);
    await stage.allocation('vm-2');
    await stage.says('vm-2', 'Error', /it is of type dhcp/);
    await stage.remove(await sure(stage.admin.get(NETWORK_NAMESPACES, at('prod-network'))), NETWORK_NAMESPACES);
    await stage.says('vm-0', 'Allocated', /does not exist any more; 10\.0\.2\.50 is kept/);
    expect((await stage.records()).toSorted()).toEqual(['10.0.2.50', '10.9.0.5']);
  });
});

test('4 writes and no reads for an allocation, 3 writes and no read for its end', async () => {
  await stage.network('prod-network');
  const names = Array.from({ length: 50 }, (_, index) => `vm-${index}`);
  await Promise.all(names.map((name) => stage.configuration(name)));
  await using _leader = stage.lead();
  await stage.allocation('first');
  await stage.served('first');
  // What NetworkConfigurations and NetworkNamespaces are told is written besides.
  const { settled, afterWrites } = tallyRequests(
    stage.cluster.server,
    ['ipallocations', 'iprecords'],
    ['networkconfigurations', 'networknamespaces'],
  );
  const before = await settled();
  // The creation of the allocations is ours too.
  const filled = before.writes + 50 * (1 + 4);
  const made = await Promise.all(
    names.map((name) => sure(stage.admin.create(IP_ALLOCATIONS, allocationOf(name, name)))),
  );
  const made50 = await afterWrites(filled);
  expect(made50.writes).toBe(filled);
  expectNoReads(made50, before);
  const addresses = await Promise.all(names.map(async (name) => (await stage.served(name))['address']));
  expect(new Set(addresses).size).toBe(50);

  const full = await afterWrites(filled);
  const emptied = full.writes + 50 * (1 + 3);
  await Promise.all(made.map((allocation) => stage.remove(allocation)));
  const ended50 = await afterWrites(emptied);
  expect(ended50.writes).toBe(emptied);
  expectNoReads(ended50, full);
  expect(await stage.records()).toEqual(['10.0.2.2']);
});
