import { describe, expect, test } from 'vitest';
import { buildPool, buildRequest, type PoolOverrides, type RequestOverrides } from '#test/support/build-pool.ts';
import { describeSource } from './asked-pools.ts';
import { type CandidateOptions, type Candidates, findCandidates } from './candidates.ts';

const ALL_ON: CandidateOptions = { enableIPv4: true, enableIPv6: true, enableSubnets: true, enableAutoPools: true };
const controller = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'prod', name: 'web', uid: 'u' };

const known = [
  pool6('six-b', { isDefault: true }),
  pool6('six-a'),
  pool4('zeta', { isDefault: true }),
  pool4('four-b'),
  pool4('alpha', { isDefault: true, isDisabled: true }),
  pool4('four-c', { isTerminating: true }),
  pool4('four-a'),
];

const SUBNETS = { 'ipam.spidernet.io/subnets': '[{"interface":"eth0","ipv4":["s4"],"ipv6":["s6"]}]' };
const SUBNET = { 'ipam.spidernet.io/subnet': '{"ipv4":["one4"]}' };
const IPPOOLS = { 'ipam.spidernet.io/ippools': '[{"interface":"eth0","ipv4":["four-a"],"cleangateway":true}]' };
const IPPOOL = { 'ipam.spidernet.io/ippool': '{"ipv4":["four-b"]}' };
const NAMESPACE = { 'ipam.spidernet.io/default-ipv4-ippool': '["four-c"]' };
const OLD_NAMESPACE = { 'ipam.spidernet.io/defaultv6ippool': '["six-a"]' };
const CNI = { ipv4: ['zeta'], ipv6: ['six-a'] };

describe('the first source that exists wins completely', () => {
  const lower = { namespace: { annotations: NAMESPACE }, cniConfig: CNI };
  test.each([
    {
      name: '1st: the subnets annotation, over all others',
      request: { controller, pod: { annotations: { ...SUBNETS, ...SUBNET, ...IPPOOLS, ...IPPOOL } }, ...lower },
      expected: { source: 'pod-subnets', v4: 's4', v6: 's6' },
    },
    {
      name: '1st: the subnet annotation, over all others',
      request: { controller, pod: { annotations: { ...SUBNET, ...IPPOOLS, ...IPPOOL } }, ...lower },
      expected: { source: 'pod-subnet', v4: 'one4', v6: null },
    },
    {
      name: '2nd: the ippools annotation, over ippool, namespace, CNI configuration and default pools',
      request: { pod: { annotations: { ...IPPOOLS, ...IPPOOL } }, ...lower },
      expected: { source: 'pod-ippools', v4: ['four-a'], v6: [] },
    },
    {
      name: '2nd: the ippool annotation, over namespace, CNI configuration and default pools',
      request: { pod: { annotations: IPPOOL }, ...lower },
      expected: { source: 'pod-ippool', v4: ['four-b'], v6: [] },
    },
    {
      name: '3rd: the namespace annotation, over CNI configuration and default pools',
      request: lower,
      expected: { source: 'namespace', v4: ['four-c'], v6: [] },
    },
    {
      name: '3rd: the namespace annotation in its older spelling',
      request: { ...lower, namespace: { annotations: OLD_NAMESPACE } },
      expected: { source: 'namespace', v4: [], v6: ['six-a'] },
    },
    {
      name: '4th: the CNI configuration, over default pools',
      request: { cniConfig: CNI },
      expected: { source: 'cni-configuration', v4: ['zeta'], v6: ['six-a'] },
    },
    {
      name: '5th: default pools, in the order of their names, also those that will be objected to',
      request: {},
      expected: { source: 'default-pools', v4: ['alpha', 'zeta'], v6: ['six-b'] },
    },
    {
      name: 'ippool applies to every interface',
      request: { interface: 'net1', interfaceIndex: 1, pod: { annotations: IPPOOL } },
      expected: { source: 'pod-ippool', v4: ['four-b'], v6: [] },
    },
    {
      name: 'empty namespace lists do not count as a source',
      request: {
        namespace: { annotations: { 'ipam.spidernet.io/default-ipv4-ippool': '[]' } },
        cniConfig: CNI,
      },
      expected: { source: 'cni-configuration', v4: ['zeta'], v6: ['six-a'] },
    },
    {
      name: 'naming only IPv4 gives no IPv6, though lower sources have it',
      request: { pod: { annotations: IPPOOL }, cniConfig: CNI },
      expected: { source: 'pod-ippool', v4: ['four-b'], v6: [] },
    },
  ])('$name', ({ request, expected }) => {
    expect(summary(find(request))).toEqual(expected);
  });

  test('a broken annotation is an error, not a reason to look further', () => {
    const broken = { pod: { annotations: { ...IPPOOL, 'ipam.spidernet.io/ippools': '' } } };
    expect(() => find(broken)).toThrow(expect.objectContaining({ reason: 'bad-annotation' }));
  });

  test('with SpiderSubnet on and auto pools off, a pod that names a subnet is refused and not served from another pool', () => {
    const request = { controller, pod: { annotations: { ...SUBNET, ...IPPOOL } } };
    expect(() => find(request, { enableAutoPools: false })).toThrow(
      'pod annotation ipam.spidernet.io/subnet: no pools are made for applications here (enableAutoPoolForApplication is false)',
    );
  });

  test('subnet annotations are ignored, and it is said, while SpiderSubnet is off', () => {
    const found = find({ pod: { annotations: { ...SUBNETS, ...IPPOOL } } }, { enableSubnets: false });
    expect(summary(found)).toEqual({ source: 'pod-ippool', v4: ['four-b'], v6: [] });
    expect(found.warnings).toEqual([
      'pod annotation ipam.spidernet.io/subnets is ignored: SpiderSubnet is not enabled',
    ]);
  });
});

describe('names and patterns', () => {
  test.each([
    { name: 'the order the user wrote', names: ['four-c', 'alpha', 'four-a'], expected: ['four-c', 'alpha', 'four-a'] },
    { name: 'a pattern expands in name order', names: ['four-*'], expected: ['four-a', 'four-b', 'four-c'] },
    {
      name: 'a pattern expands in its place',
      names: ['zeta', 'four-[ab]', 'alpha'],
      expected: ['zeta', 'four-a', 'four-b', 'alpha'],
    },
    {
      name: 'a pattern stays within its family',
      names: ['*'],
      expected: ['alpha', 'four-a', 'four-b', 'four-c', 'zeta'],
    },
    {
      name: 'a pool met again by a pattern keeps its first place',
      names: ['four-c', 'four-*'],
      expected: ['four-c', 'four-a', 'four-b'],
    },
    {
      name: 'a name met by an earlier pattern keeps that place',
      names: ['four-*', 'four-b'],
      expected: ['four-a', 'four-b', 'four-c'],
    },
    { name: 'two patterns on one pool', names: ['four-?', '*-b'], expected: ['four-a', 'four-b', 'four-c'] },
    {
      name: 'a plain name of the other family is a candidate, for an objection to tell',
      names: ['six-a', 'zeta'],
      expected: ['six-a', 'zeta'],
    },
  ])('$name', ({ names, expected }) => {
    const found = find({ cniConfig: { ipv4: names } });
    expect(summary(found)).toMatchObject({ v4: expected, v6: [] });
    expect(found.kind === 'pools' && found.v4.map(({ listedAt }) => listedAt)).toEqual(
      expected.map((_, index) => index),
    );
    expect(found.warnings).toEqual([]);
  });

  test('patterns work in every source that names pools', () => {
    const patterns = [
      { pod: { annotations: { 'ipam.spidernet.io/ippools': '[{"ipv4":["four-?"]}]' } } },
      { pod: { annotations: { 'ipam.spidernet.io/ippool': '{"ipv4":["four-?"]}' } } },
      { namespace: { annotations: { 'ipam.spidernet.io/default-ipv4-ippool': '["four-?"]' } } },
    ];
    for (const request of patterns)
      expect(summary(find(request))).toMatchObject({ v4: ['four-a', 'four-b', 'four-c'] });
  });

  test.each([
    {
      name: 'an unknown name, though others in the list exist',
      request: { cniConfig: { ipv4: ['zeta', 'nope'] } },
      reason: 'unknown-pool',
      message:
        'CNI configuration: no pool is named "nope"; of IPv4 pools there are alpha, four-a, four-b, four-c, zeta',
    },
    {
      name: 'an unknown name in a namespace annotation, which is named',
      request: { namespace: { annotations: { 'ipam.spidernet.io/defaultv6ippool': '["nope"]' } } },
      reason: 'unknown-pool',
      message:
        'namespace annotation ipam.spidernet.io/defaultv6ippool: no pool is named "nope"; of IPv6 pools there are six-a, six-b',
    },
    {
      name: 'a name written twice',
      request: { cniConfig: { ipv4: ['zeta', 'alpha', 'zeta'] } },
      reason: 'bad-config',
      message: 'CNI configuration: duplicate pool "zeta"',
    },
    {
      name: 'a name written twice in an annotation',
      request: { pod: { annotations: { 'ipam.spidernet.io/ippool': '{"ipv4":["zeta","zeta"]}' } } },
      reason: 'bad-annotation',
      message: 'pod annotation ipam.spidernet.io/ippool: duplicate pool "zeta"',
    },
    {
      name: 'a malformed pattern in the CNI configuration',
      request: { cniConfig: { ipv4: ['*['] } },
      reason: 'bad-config',
      message: 'CNI configuration: malformed pattern "*["',
    },
    {
      name: 'a malformed pattern',
      request: { pod: { annotations: { 'ipam.spidernet.io/ippool': '{"ipv4":["*["]}' } } },
      reason: 'bad-annotation',
      message: 'pod annotation ipam.spidernet.io/ippool: malformed pattern "*["',
    },
  ])('refused: $name', ({ request, reason, message }) => {
    expect(() => find(request)).toThrow(expect.objectContaining({ reason, message }));
  });

  test('the error for an unknown name shows the first 20 pools and counts the rest', () => {
    const many = Array.from({ length: 27 }, (_, index) => pool4(`p${String(index).padStart(2, '0')}`));
    const request = buildRequest({ cniConfig: { ipv4: ['nope'] } });
    expect(() => findCandidates(request, many, ALL_ON)).toThrow(/there are p00, p01, .*, p19 … and 7 more$/);
    expect(() => findCandidates(request, [], ALL_ON)).toThrow(/of IPv4 pools none exist$/);
  });
});

describe('families', () => {
  test('a disabled family is dropped with a warning, unknown names and all', () => {
    const found = find({ cniConfig: { ipv4: ['zeta'], ipv6: ['nope'] } }, { enableIPv6: false });
    expect(summary(found)).toEqual({ source: 'cni-configuration', v4: ['zeta'], v6: [] });
    expect(found.warnings).toEqual(['CNI configuration: IPv6 is disabled, what is named for it is not used']);
  });

  test('a disabled family of default pools is dropped with a warning', () => {
    const found = find({}, { enableIPv4: false });
    expect(summary(found)).toEqual({ source: 'default-pools', v4: [], v6: ['six-b'] });
    expect(found.warnings).toEqual(['default pools: IPv4 is disabled, what is named for it is not used']);
  });

  test('a disabled family of a subnet annotation is dropped with a warning', () => {
    const found = find({ controller, pod: { annotations: SUBNETS } }, { enableIPv4: false });
    expect(summary(found)).toEqual({ source: 'pod-subnets', v4: null, v6: 's6' });
    expect(found.warnings).toHaveLength(1);
  });

  test('nobody is warned of a disabled family that nobody asked for', () => {
    expect(find({ pod: { annotations: IPPOOL } }, { enableIPv6: false }).warnings).toEqual([]);
  });

  test('a family whose patterns match nothing is dropped with a warning while the other has pools', () => {
    const found = find({ cniConfig: { ipv4: ['zeta'], ipv6: ['none-*', 'x?'] } });
    expect(summary(found)).toEqual({ source: 'cni-configuration', v4: ['zeta'], v6: [] });
    expect(found.warnings).toEqual(['CNI configuration: no IPv6 pool matches "none-*", "x?"']);
  });
});

describe('the clean gateway flag', () => {
  test.each([
    {
      name: 'ippools says true, the CNI configuration false',
      annotations: IPPOOLS,
      cleanGateway: false,
      expected: true,
    },
    {
      name: 'ippools says nothing, the CNI configuration true',
      annotations: { 'ipam.spidernet.io/ippools': '[{"ipv4":["zeta"]}]' },
      cleanGateway: true,
      expected: false,
    },
    { name: 'ippool leaves it to the CNI configuration', annotations: IPPOOL, cleanGateway: true, expected: true },
    { name: 'default pools leave it to the CNI configuration', annotations: {}, cleanGateway: true, expected: true },
  ])('$name', ({ annotations, cleanGateway, expected }) => {
    expect(find({ pod: { annotations }, cniConfig: { cleanGateway } }).cleanGateway).toBe(expected);
  });
});

describe('no candidate at all says which source gave nothing, and why', () => {
  const noDefaults = known.filter((pool) => !pool.isDefault);
  test.each([
    {
      name: 'no default pool',
      request: {},
      message:
        'default pools: no pool has spec.default true, and neither the pod nor its namespace nor the CNI configuration names one',
    },
    {
      name: 'an empty ippool object',
      request: { pod: { annotations: { 'ipam.spidernet.io/ippool': '{}' } } },
      message:
        'pod annotation ipam.spidernet.io/ippool is there, but names no pool: it needs at least one name in "ipv4" or "ipv6"',
    },
    {
      name: 'an ippools item without pools',
      request: { pod: { annotations: { 'ipam.spidernet.io/ippools': '[{"interface":"eth0"}]' } } },
      message:
        'pod annotation ipam.spidernet.io/ippools is there, but names no pool: it needs at least one name in "ipv4" or "ipv6"',
    },
    {
      name: 'a pattern without match',
      request: { cniConfig: { ipv4: ['none-*'] } },
      message: 'CNI configuration: no IPv4 pool matches "none-*"',
    },
    {
      name: 'a disabled family only',
      request: { cniConfig: { ipv6: ['six-a'] } },
      options: { enableIPv6: false },
      message: 'CNI configuration: IPv6 is disabled, what is named for it is not used',
    },
    {
      name: 'a subnet of a disabled family only',
      request: { controller, pod: { annotations: SUBNET } },
      options: { enableIPv4: false },
      message: 'pod annotation ipam.spidernet.io/subnet: IPv4 is disabled, what is named for it is not used',
    },
  ])('$name', ({ request, options, message }) => {
    const error = { reason: 'no-eligible-pool', message: `no pool to choose from: ${message}` };
    const search = () => findCandidates(buildRequest(request), noDefaults, { ...ALL_ON, ...options });
    expect(search).toThrow(expect.objectContaining(error));
  });

  test.each([
    {
      name: 'an interface the subnets annotation does not name',
      request: { interface: 'net1', controller, pod: { annotations: SUBNETS } },
      message: 'pod annotation ipam.spidernet.io/subnets: nothing for interface "net1", only for "eth0"',
    },
    {
      name: 'an interface the subnet annotation does not name',
      request: { interface: 'net1', controller, pod: { annotations: SUBNET } },
      message: 'pod annotation ipam.spidernet.io/subnet: nothing for interface "net1", only for "eth0"',
    },
    {
      name: 'a static pod with a subnet annotation',
      request: { controller: { ...controller, apiVersion: 'v1', kind: 'Node' }, pod: { annotations: SUBNET } },
      message: 'pod annotation ipam.spidernet.io/subnet: a static pod cannot have pools made from a subnet',
    },
    {
      name: 'a bare pod with a subnet annotation',
      request: { pod: { annotations: SUBNET } },
      message:
        'pod annotation ipam.spidernet.io/subnet: a pod without a controller cannot have pools made from a subnet',
    },
  ])('$name', ({ request, message }) => {
    expect(() => find(request)).toThrow(expect.objectContaining({ reason: 'no-eligible-pool', message }));
  });

  test('a misspelt key is in the details', () => {
    const request = { pod: { annotations: { 'ipam.spidernet.io/ippool': '{"ip4":["zeta"]}' } } };
    const details = 'annotation ipam.spidernet.io/ippool: the value has unknown keys that are ignored: "ip4"';
    expect(() => find(request)).toThrow(expect.objectContaining({ reason: 'no-eligible-pool', details }));
  });
});

test('each source is described in the words of the documentation', () => {
  expect(describeSource('pod-ippool')).toBe('pod annotation ipam.spidernet.io/ippool');
  expect(describeSource('cni-configuration')).toBe('CNI configuration');
  expect(describeSource('default-pools')).toBe('default pools');
});

function find(request: RequestOverrides, options: Partial<CandidateOptions> = {}): Candidates {
  return findCandidates(buildRequest(request), known, { ...ALL_ON, ...options });
}

function summary(found: Candidates): object {
  if (found.kind === 'subnets') return { source: found.source, ...found.subnets };
  return { source: found.source, v4: found.v4.map(({ pool }) => pool.name), v6: found.v6.map(({ pool }) => pool.name) };
}

function pool4(name: string, overrides: PoolOverrides = {}) {
  return buildPool({ name, subnet: '10.0.0.0/24', ...overrides });
}

function pool6(name: string, overrides: PoolOverrides = {}) {
  return buildPool({ name, subnet: 'fd00::/64', ...overrides });
}
