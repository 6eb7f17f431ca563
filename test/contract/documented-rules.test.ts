import { describe, expect, test } from 'vitest';
import { surveyPools } from '#agent/allocate/plan.ts';
import { catalogPools } from '#agent/sources/pool-catalog.ts';
import { PoolView } from '#agent/views/pool-view.ts';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { formatAddress } from '#pkg/ip/address.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { AutoPoolKey } from '#pkg/pool/auto-pool.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import { autoKey, buildAutoPool, WEB } from '#test/support/build-auto-pool.ts';
import { buildRequest, type RequestOverrides } from '#test/support/build-pool.ts';

/** Spiderpool's page on allocation, rule by rule: from the text that an operator writes to the pools in order of use. */

interface Written {
  readonly spec?: object;
  readonly metadata?: object;
}

function pool(name: string, { spec, metadata }: Written = {}): Pool {
  return decodePool({
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderIPPool',
    metadata: { name, ...metadata },
    spec: { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.14'], default: true, ...spec },
  });
}

interface Asked {
  readonly request?: RequestOverrides;
  readonly reserved?: readonly string[];
}

const reservedOf = (ranges: readonly string[] = []) => IntervalSet.of(ranges.map(parseRange));

function tried(pools: readonly Pool[], { request, reserved }: Asked = {}): string[] {
  const asked = buildRequest(request);
  const options = {
    enableIPv4: true,
    enableIPv6: true,
    enableSubnets: true,
    enableAutoPools: true,
    multusNamespace: 'kube-system',
  };
  const snapshot = {
    ...catalogPools(pools),
    reservedIps: [],
    reserved: { 4: reservedOf(reserved), 6: IntervalSet.of([]) },
    overlaps: new Map(),
    problems: [],
  };
  return surveyPools(asked, snapshot, options).families.flatMap((family) => family.pools.map((it) => it.name));
}

const labels = (matchLabels: object) => ({ matchLabels });

describe('1. candidates: the first rule that names pools overrides those below', () => {
  const pools = ['subnet-less', 'ippools', 'ippool', 'namespace', 'cni'].map((name) =>
    pool(name, { spec: { default: false } }),
  );
  const made = (name: string, key: Partial<AutoPoolKey>) =>
    buildAutoPool(autoKey(key), { name, ips: ['10.0.0.20-10.0.0.22'] });
  const all = [
    ...pools,
    pool('default'),
    made('of-web-from-a', { subnet: 'a' }),
    made('of-web-from-b', { subnet: 'b' }),
    made('of-web-from-b-for-net1', { subnet: 'b', interface: 'net1' }),
    made('of-web-before-it-was-made-anew', { subnet: 'b', application: { ...WEB, uid: 'earlier' } }),
    made('of-db-from-b', { subnet: 'b', application: { ...WEB, name: 'db' } }),
  ];
  const controller = WEB;
  const cniConfig = { ipv4: ['cni'] };
  const namespace = { annotations: { 'ipam.spidernet.io/default-ipv4-ippool': '["namespace"]' } };
  const olderNamespace = { annotations: { 'ipam.spidernet.io/defaultv4ippool': '["namespace"]' } };
  const ippool = { 'ipam.spidernet.io/ippool': '{"ipv4":["ippool"]}' };
  const ippools = { ...ippool, 'ipam.spidernet.io/ippools': '[{"interface":"eth0","ipv4":["ippools"]}]' };
  const subnet = { ...ippools, 'ipam.spidernet.io/subnet': '{"ipv4":["a"]}' };
  const items = [
    { interface: 'net1', ipv4: ['a'] },
    { interface: 'eth0', ipv4: ['b'] },
  ];
  const subnets = { ...subnet, 'ipam.spidernet.io/subnets': JSON.stringify(items) };

  test.each<{ name: string; request: RequestOverrides; expected: string }>([
    {
      name: 'SpiderSubnet annotation, several interfaces',
      request: { pod: { annotations: subnets }, namespace, cniConfig, controller },
      expected: 'of-web-from-b',
    },
    {
      name: 'SpiderSubnet annotation, one interface',
      request: { pod: { annotations: subnet }, namespace, cniConfig, controller },
      expected: 'of-web-from-a',
    },
    {
      name: 'pod annotation ippools',
      request: { pod: { annotations: ippools }, namespace, cniConfig },
      expected: 'ippools',
    },
    {
      name: 'pod annotation ippool',
      request: { pod: { annotations: ippool }, namespace, cniConfig },
      expected: 'ippool',
    },
    { name: 'namespace annotation', request: { namespace, cniConfig }, expected: 'namespace' },
    {
      name: 'namespace annotation as the older page spells it',
      request: { namespace: olderNamespace, cniConfig },
      expected: 'namespace',
    },
    { name: 'CNI configuration', request: { cniConfig }, expected: 'cni' },
    { name: 'cluster default pool', request: {}, expected: 'default' },
  ])('$name', ({ request, expected }) => {
    expect(tried(all, { request })).toEqual([expected]);
  });
});

describe('2. filters: each leaves the other pool of the list', () => {
  test.each<{ name: string; written: Written; asked?: Asked }>([
    { name: 'terminating', written: { metadata: { deletionTimestamp: '2026-11-16T10:00:00Z' } } },
    { name: 'disable', written: { spec: { disable: true } } },
    { name: 'nodeName', written: { spec: { nodeName: ['worker-2'] } } },
    { name: 'nodeAffinity', written: { spec: { nodeAffinity: labels({ zone: 'b' }) } } },
    {
      name: 'nodeName before nodeAffinity',
      written: { spec: { nodeName: ['worker-2'], nodeAffinity: labels({ zone: 'a' }) } },
      asked: { request: { node: { labels: { zone: 'a' } } } },
    },
    { name: 'namespaceName', written: { spec: { namespaceName: ['other'] } } },
    { name: 'namespaceAffinity', written: { spec: { namespaceAffinity: labels({ team: 'b' }) } } },
    {
      name: 'namespaceName before namespaceAffinity',
      written: { spec: { namespaceName: ['other'], namespaceAffinity: labels({ team: 'a' }) } },
      asked: { request: { namespace: { labels: { team: 'a' } } } },
    },
    { name: 'podAffinity', written: { spec: { podAffinity: labels({ app: 'db' }) } } },
    {
      name: 'multusName',
      written: { spec: { multusName: ['kube-system/a'] } },
      asked: { request: { multusName: 'kube-system/b' } },
    },
    { name: 'all addresses in excludeIPs', written: { spec: { excludeIPs: ['10.0.0.10-10.0.0.14'] } } },
    {
      name: 'all addresses reserved',
      written: {},
      asked: { reserved: ['10.0.0.1-10.0.0.50'] },
    },
    {
      name: 'some addresses excluded and the rest reserved',
      written: { spec: { excludeIPs: ['10.0.0.10-10.0.0.12'] } },
      asked: { reserved: ['10.0.0.13-10.0.0.14'] },
    },
  ])('$name', ({ written, asked }) => {
    const other = pool('other', { spec: { subnet: '10.1.0.0/24', ips: ['10.1.0.10'] } });
    expect(tried([pool('filtered', written), other], asked)).toEqual(['other']);
  });

  test.each<{ name: string; spec: object; asked?: Asked }>([
    { name: 'nodeName', spec: { nodeName: ['worker-1'] } },
    { name: 'nodeAffinity', spec: { nodeAffinity: labels({ zone: 'a' }) } },
    { name: 'namespaceName', spec: { namespaceName: ['prod'] } },
    { name: 'namespaceAffinity', spec: { namespaceAffinity: labels({ team: 'a' }) } },
    { name: 'podAffinity', spec: { podAffinity: labels({ app: 'web' }) } },
    { name: 'multusName', spec: { multusName: ['kube-system/a'] } },
    { name: 'all but one address excluded', spec: { excludeIPs: ['10.0.0.10-10.0.0.13'] } },
  ])('a pool that matches its $name stays', ({ spec }) => {
    const request = {
      node: { labels: { zone: 'a' } },
      namespace: { labels: { team: 'a' } },
      pod: { labels: { app: 'web' } },
      multusName: 'kube-system/a',
    };
    expect(tried([pool('kept', { spec })], { request })).toEqual(['kept']);
  });

  test('pools of the CNI configuration are alternatives: if the node of the first does not match, the next is used', () => {
    const pools = [
      pool('zone-b', { spec: { nodeName: ['worker-2'] } }),
      pool('zone-a', { spec: { nodeName: ['worker-1'] } }),
    ];
    expect(tried(pools, { request: { cniConfig: { ipv4: ['zone-b', 'zone-a'] } } })).toEqual(['zone-a']);
  });
});

describe('3. order', () => {
  const podAffinity = labels({ app: 'web' });
  const nodeAffinity = labels({ zone: 'a' });
  const namespaceAffinity = labels({ team: 'a' });
  const [nodeName, namespaceName, multusName] = [['worker-1'], ['prod'], ['kube-system/a']];
  const request = {
    node: { labels: { zone: 'a' } },
    namespace: { labels: { team: 'a' } },
    pod: { labels: { app: 'web' } },
    multusName: 'kube-system/a',
  };

  test.each<{ name: string; first: object; second: object }>([
    { name: 'podAffinity is highest', first: { podAffinity }, second: { nodeName } },
    { name: 'nodeName before nodeAffinity', first: { nodeName }, second: { nodeAffinity } },
    { name: 'node before namespace', first: { nodeAffinity }, second: { namespaceName } },
    { name: 'namespaceName before namespaceAffinity', first: { namespaceName }, second: { namespaceAffinity } },
    { name: 'namespace before multusName', first: { namespaceAffinity }, second: { multusName } },
    { name: 'multusName before none', first: { multusName }, second: {} },
    { name: 'instance 1', first: { podAffinity, nodeName }, second: { podAffinity } },
    { name: 'instance 2', first: { podAffinity }, second: { nodeName, namespaceName } },
    { name: 'instance 3', first: { podAffinity, nodeName }, second: { podAffinity, namespaceName, multusName } },
  ])('$name', ({ first, second }) => {
    // By name alone it would be the other way round.
    expect(tried([pool('a', { spec: second }), pool('b', { spec: first })], { request })).toEqual(['b', 'a']);
  });

  test('equal pools are used in the order of the array', () => {
    const pools = ['a', 'b', 'c'].map((name) => pool(name));
    expect(tried(pools, { request: { cniConfig: { ipv4: ['b', 'c', 'a'] } } })).toEqual(['b', 'c', 'a']);
  });
});

test('4. the address is neither excluded nor reserved', async () => {
  const excluding = pool('a', { spec: { excludeIPs: ['10.0.0.10', '10.0.0.12'] } });
  const reserved = reservedOf(['10.0.0.11', '10.0.0.13']);
  const view = new PoolView(excluding, { reserved, node: 'worker-1', load: async () => [] });
  await view.reload();
  const given = view.pick();
  expect(given === null ? null : formatAddress({ family: 4, value: given })).toBe('10.0.0.14');
  expect(view.pick()).toBeNull();
});
