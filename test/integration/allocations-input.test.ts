import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Resource } from '#pkg/kube/objects/kube-object.ts';
import { RESERVED_IPS } from '#pkg/kube/objects/spider-resources.ts';
import { IP_ALLOCATIONS, NETWORK_NAMESPACES } from '#pkg/kube/objects/vitistack-resources.ts';
import { type AllocationStage, allocationOf, NAMESPACE, PATIENCE, startAllocationStage } from './allocation-stage.ts';
import { sure } from './spider-objects.ts';

/** What people write into NetworkNamespaces and IPAllocations. In the order of the file: the last test changes the kind. */

let stage: AllocationStage;

beforeAll(async () => {
  stage = await startAllocationStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.clear());

const at = (name: string) => ({ namespace: NAMESPACE, name });

describe('a NetworkNamespace that gives out nothing says why, and gives it when it is put right', () => {
  test.each([
    {
      name: 'a start before its CIDR',
      block: { ipv4RangeStart: '10.0.1.50' },
      says: /ipv4RangeStart: 10\.0\.1\.50 is not in 10\.0\.2\.0\/24/,
    },
    {
      name: 'an end after its CIDR',
      block: { ipv4RangeEnd: '10.0.3.1' },
      says: /ipv4RangeEnd: 10\.0\.3\.1 is not in 10\.0\.2\.0\/24/,
    },
    {
      name: 'a start after its end',
      block: { ipv4RangeStart: '10.0.2.60', ipv4RangeEnd: '10.0.2.50' },
      says: /10\.0\.2\.60 is after the end of the range, 10\.0\.2\.50/,
    },
    {
      name: 'the network address as start',
      block: { ipv4RangeStart: '10.0.2.0' },
      says: /10\.0\.2\.0 is below 10\.0\.2\.2, the first that may be given out/,
    },
    {
      name: 'the broadcast address as start',
      block: { ipv4RangeStart: '10.0.2.255', ipv4RangeEnd: '10.0.2.255' },
      says: /10\.0\.2\.255 is the broadcast address/,
    },
    {
      name: 'a range of the gateway alone',
      block: { ipv4Gateway: '10.0.2.50', ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '10.0.2.50' },
      says: /holds nothing but the gateway/,
    },
    { name: 'a /31', block: { ipv4CIDR: '10.0.2.0/31' }, says: /10\.0\.2\.0\/31 has no room/ },
    {
      name: 'a /32',
      block: { ipv4CIDR: '10.0.2.1/32' },
      says: /10\.0\.2\.1\/32 has no room/,
    },
    {
      name: 'a /32 without a gateway',
      block: { ipv4CIDR: '10.0.2.1/32', ipv4Gateway: '' },
      says: /ipv4Gateway: must be given/,
    },
    {
      name: 'a CIDR of no address',
      block: { ipv4CIDR: '10.0.999.0/24' },
      says: /ipv4CIDR: "10\.0\.999\.0" is not an IP address/,
    },
    { name: 'a CIDR of too long a prefix', block: { ipv4CIDR: '10.0.2.0/99' }, says: /ipv4CIDR: .*10\.0\.2\.0\/99/ },
    { name: 'a gateway that is none', block: { ipv4Gateway: 'soon' }, says: /ipv4Gateway: .*soon/ },
    { name: 'a gateway elsewhere', block: { ipv4Gateway: '10.9.0.1' }, says: /10\.9\.0\.1 is not in 10\.0\.2\.0\/24/ },
  ])('$name', async ({ block, says }) => {
    await stage.network('prod-network', block);
    await using _leader = stage.lead();
    await stage.allocation('vm');
    expect(await stage.says('vm', 'Error', says)).toContain('NetworkNamespace prod-network gives out no addresses: ');
    expect(await stage.records()).toEqual([]);
    const right = { ipv4CIDR: '10.0.2.0/24', ipv4Gateway: '10.0.2.1', ipv4RangeStart: '10.0.2.50', ipv4RangeEnd: '' };
    const spec = { ipAllocation: { static: right } };
    await sure(stage.admin.patch(NETWORK_NAMESPACES, at('prod-network'), { spec }));
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50' });
  });

  test('an IPv6 CIDR does not get past the kind, and one that another operator found out besides changes nothing', async () => {
    await expect(stage.network('prod-network', { ipv4CIDR: 'fd00::/64' })).rejects.toThrow(/ipv4CIDR/);
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    await stage.setStatus(NETWORK_NAMESPACES, 'prod-network', { ipv6Prefix: 'fd00::/64', ipv4Prefix: 'fd00::/64' });
    await using _leader = stage.lead();
    await stage.allocation('vm');
    expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.50', prefix: 24 });
  });

  test.each([
    { name: 'a /30 has one address beside its gateway', cidr: '10.0.2.0/30', address: '10.0.2.2', prefix: 30 },
    { name: 'host bits are of no interest', cidr: '10.0.2.77/24', address: '10.0.2.2', prefix: 24 },
  ])('$name', async ({ cidr, address, prefix }) => {
    await stage.network('prod-network', { ipv4CIDR: cidr });
    await using _leader = stage.lead();
    await stage.allocation('vm');
    expect(await stage.served('vm')).toMatchObject({ address, prefix });
  });
});

test('the floor is the lowest that is given, and a start below it is an error', async () => {
  await stage.network('prod-network');
  await stage.network('low-network', { ipv4CIDR: '10.0.3.0/24', ipv4Gateway: '10.0.3.1', ipv4RangeStart: '10.0.3.3' });
  await using _leader = stage.lead({ floor: 4 });
  await stage.allocation('vm');
  expect(await stage.served('vm')).toMatchObject({ address: '10.0.2.4' });
  await stage.allocation('low', { spec: { networkNamespaceName: 'low-network' } });
  await stage.says('low', 'Error', /10\.0\.3\.3 is below 10\.0\.3\.4, the first that may be given out/);
});

test('a domain that is changed while addresses are in use gives out nothing, until it is as before or these are given back', async () => {
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
  await using _leader = stage.lead();
  const first = await stage.allocation('first');
  await stage.served('first');
  const setDomain = (domain: string | null) =>
    sure(
      stage.admin.patch(NETWORK_NAMESPACES, at('prod-network'), {
        metadata: { annotations: { 'ipledger.io/domain': domain } },
      }),
    );
  await setDomain('vlan-200');
  await stage.allocation('second');
  await stage.says('second', 'Error', /in domain vlan-200 now, and addresses of it are in use in domain default/);
  expect(await stage.records()).toEqual(['10.0.2.50']);
  await setDomain(null);
  expect(await stage.served('second')).toMatchObject({ address: '10.0.2.51' });
  const second = await stage.get('second');
  await setDomain('vlan-200');
  await stage.allocation('third');
  await stage.says('third', 'Error', /are in use in domain default/);
  for (const it of [first, second]) await stage.remove(it);
  expect(await stage.served('third')).toMatchObject({ address: '10.0.2.50' });
  await vi.waitFor(async () => expect(await stage.records()).toEqual(['10.0.2.50.vlan-200']), PATIENCE);
});

test('a network that is deleted and made again in another domain gives out nothing while addresses of the first are in use', async () => {
  const network = await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
  await using _leader = stage.lead();
  const first = await stage.allocation('first');
  await stage.served('first');
  await stage.remove(network, NETWORK_NAMESPACES);
  await stage.says('first', 'Allocated', /does not exist any more; 10\.0\.2\.50 is kept/);
  const metadata = { annotations: { 'ipledger.io/domain': 'vlan-200' } };
  await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' }, { metadata });
  await stage.allocation('second');
  await stage.says('second', 'Error', /in domain vlan-200 now, and addresses of it are in use in domain default/);
  expect(await stage.served('first')).toMatchObject({ address: '10.0.2.50' });
  await stage.remove(first);
  expect(await stage.served('second')).toMatchObject({ address: '10.0.2.50' });
  await vi.waitFor(async () => expect(await stage.records()).toEqual(['10.0.2.50.vlan-200']), PATIENCE);
});

describe('a requestedAddress that cannot be', () => {
  test.each([
    { name: 'the network address', asked: '10.0.2.0', says: /^10\.0\.2\.0 is the network address of 10\.0\.2\.0\/24$/ },
    { name: 'the broadcast address', asked: '10.0.2.255', says: /^10\.0\.2\.255 is the broadcast address/ },
    { name: 'the gateway', asked: '10.0.2.1', says: /^10\.0\.2\.1 is the gateway$/ },
    { name: 'outside of the range', asked: '10.0.2.20', says: /^10\.0\.2\.20 is outside of the range of/ },
    { name: 'outside of the network', asked: '10.0.3.20', says: /^10\.0\.3\.20 is not in 10\.0\.2\.0\/24$/ },
    { name: 'no host at all', asked: '0.0.0.0', says: /^0\.0\.0\.0 is not in/ },
    { name: 'reserved', asked: '10.0.2.60', says: /^10\.0\.2\.60 is reserved by a SpiderReservedIP$/ },
    { name: 'IPv6', asked: 'fd00::5', says: /"fd00::5" is IPv6; IPAllocations are IPv4 only/ },
    { name: 'IPv6 in another spelling', asked: 'FD00:0:0::5', says: /is IPv6; IPAllocations are IPv4 only/ },
  ])('$name: an Error that says so, and no substitute', async ({ asked, says }) => {
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    await sure(stage.admin.create(RESERVED_IPS, { metadata: { name: 'routers' }, spec: { ips: ['10.0.2.60'] } }));
    await using _leader = stage.lead();
    await stage.allocation('vm', { spec: { requestedAddress: asked } });
    await stage.says('vm', 'Error', says);
    expect((await stage.get('vm'))['status']).not.toHaveProperty('address');
    expect(await stage.records()).toEqual([]);
  });

  test('garbage of a time before our kind, or of a kind without our rules, is said in the status', async () => {
    const CRDS: Resource = {
      group: 'apiextensions.k8s.io',
      version: 'v1',
      plural: 'customresourcedefinitions',
      kind: 'CustomResourceDefinition',
    };
    const crd = await sure(stage.admin.get(CRDS, { name: 'ipallocations.vitistack.io' }));
    const bare = JSON.parse(
      JSON.stringify(crd, (key, value: unknown) =>
        ['x-kubernetes-validations', 'maxLength', 'minLength'].includes(key) ? undefined : value,
      ),
    ) as typeof crd;
    await sure(stage.admin.update(CRDS, bare));
    await stage.network('prod-network', { ipv4RangeStart: '10.0.2.50' });
    await using _leader = stage.lead();
    const garbage = [
      'ten',
      '10.0.2',
      '10.0.2.050',
      '10.0.2.50/24',
      ' 10.0.2.50, ',
      '1e9',
      `${'9'.repeat(5_000)}`,
      '10.0.2.5\u0000',
    ];
    for (const [index, requestedAddress] of garbage.entries()) {
      const name = `vm-${index}`;
      await stage.configuration(name);
      // The API server takes a moment to use the new schema.
      await vi.waitFor(
        async () =>
          void (await sure(stage.admin.create(IP_ALLOCATIONS, allocationOf(name, name, { requestedAddress })))),
        PATIENCE,
      );
      await stage.says(name, 'Error', /^spec\.requestedAddress: ".*" is not an IP address$/s);
    }
    expect(await stage.records()).toEqual([]);
    // An address with spaces around it is one.
    await stage.configuration('spaced');
    await sure(
      stage.admin.create(IP_ALLOCATIONS, allocationOf('spaced', 'spaced', { requestedAddress: ' 10.0.2.77 ' })),
    );
    expect(await stage.served('spaced')).toMatchObject({ address: '10.0.2.77' });
  });
});
