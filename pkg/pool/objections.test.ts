import { describe, expect, test } from 'vitest';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { buildPool, buildRequest, type PoolOverrides, type RequestOverrides } from '#test/support/build-pool.ts';
import type { LabelSelector } from './label-selector.ts';
import { explainObjections, findObjection, type ObjectionFacts, sortOut } from './objections.ts';

const FACTS: ObjectionFacts = {
  family: 4,
  reserved: IntervalSet.EMPTY,
  overlaps: new Map(),
  multusNamespace: 'kube-system',
};

interface Case {
  readonly name: string;
  readonly pool: PoolOverrides;
  readonly request?: RequestOverrides;
  readonly reserved?: readonly string[];
  readonly expected: { rule: string; text: string } | null;
}

const CASES: readonly Case[] = [
  { name: 'a pool without any rule serves everybody', pool: {}, expected: null },
  {
    name: 'a terminating pool',
    pool: { isTerminating: true },
    expected: { rule: 'terminating', text: 'it is being deleted' },
  },
  { name: 'a disabled pool', pool: { isDisabled: true }, expected: { rule: 'disabled', text: 'it is disabled' } },
  {
    name: 'a pool of the other family',
    pool: { subnet: 'fd00::/64' },
    expected: { rule: 'family', text: 'it is an IPv6 pool' },
  },
  { name: 'a node in nodeName', pool: { nodeNames: ['a', 'worker-1'] }, expected: null },
  {
    name: 'a node not in nodeName',
    pool: { nodeNames: ['a', 'b'] },
    expected: { rule: 'node', text: 'node worker-1 is not in nodeName [a, b]' },
  },
  {
    name: 'a node whose labels match nodeAffinity',
    pool: { nodeAffinity: labels({ zone: 'a' }) },
    request: { node: { labels: { zone: 'a' } } },
    expected: null,
  },
  {
    name: 'a node whose labels do not match nodeAffinity',
    pool: { nodeAffinity: labels({ zone: 'a' }) },
    expected: { rule: 'node', text: 'the labels of node worker-1 do not match nodeAffinity [zone=a]' },
  },
  {
    name: 'nodeName is asked in place of nodeAffinity: in the one, against the other',
    pool: { nodeNames: ['worker-1'], nodeAffinity: labels({ zone: 'a' }) },
    expected: null,
  },
  {
    name: 'nodeName is asked in place of nodeAffinity: not in the one, matching the other',
    pool: { nodeNames: ['a'], nodeAffinity: labels({}) },
    expected: { rule: 'node', text: 'node worker-1 is not in nodeName [a]' },
  },
  { name: 'a namespace in namespaceName', pool: { namespaceNames: ['prod'] }, expected: null },
  {
    name: 'a namespace not in namespaceName',
    pool: { namespaceNames: ['dev', 'test'] },
    expected: { rule: 'namespace', text: 'namespace prod is not in namespaceName [dev, test]' },
  },
  {
    name: 'a namespace whose labels match namespaceAffinity',
    pool: { namespaceAffinity: labels({ team: 'x' }) },
    request: { namespace: { labels: { team: 'x' } } },
    expected: null,
  },
  {
    name: 'a namespace whose labels do not match namespaceAffinity',
    pool: { namespaceAffinity: labels({ team: 'x' }) },
    expected: { rule: 'namespace', text: 'the labels of namespace prod do not match namespaceAffinity [team=x]' },
  },
  {
    name: 'namespaceName is asked in place of namespaceAffinity: in the one, against the other',
    pool: { namespaceNames: ['prod'], namespaceAffinity: labels({ team: 'x' }) },
    expected: null,
  },
  {
    name: 'namespaceName is asked in place of namespaceAffinity: not in the one, matching the other',
    pool: { namespaceNames: ['dev'], namespaceAffinity: labels({}) },
    expected: { rule: 'namespace', text: 'namespace prod is not in namespaceName [dev]' },
  },
  {
    name: 'a pod that matches podAffinity',
    pool: { podAffinity: labels({ app: 'web' }) },
    request: { pod: { labels: { app: 'web' } } },
    expected: null,
  },
  {
    name: 'a pod that does not match podAffinity',
    pool: { podAffinity: labels({ app: 'web' }) },
    request: { pod: { labels: { app: 'db' } } },
    expected: { rule: 'pod', text: 'the labels of the pod do not match podAffinity [app=web]' },
  },
  {
    name: 'a pool without multusName does not ask for the network',
    pool: {},
    request: { multusName: null },
    expected: null,
  },
  {
    name: 'a network in multusName',
    pool: { multusNames: ['net/a', 'net/b'] },
    request: { multusName: 'net/b' },
    expected: null,
  },
  {
    name: 'a network not in multusName',
    pool: { multusNames: ['net/a'] },
    request: { multusName: 'net/b' },
    expected: { rule: 'multus', text: 'Multus network "net/b" of eth0 is not in multusName [net/a]' },
  },
  {
    name: 'match_master_subnet and a pool without multusName',
    pool: {},
    request: { cniConfig: { matchMasterSubnet: true } },
    expected: {
      rule: 'master',
      text: 'match_master_subnet is set, and which subnet the master interface has is not known here; give the pool a multusName instead',
    },
  },
  {
    name: 'match_master_subnet and a pool of this network',
    pool: { multusNames: ['net/a'] },
    request: { multusName: 'net/a', cniConfig: { matchMasterSubnet: true } },
    expected: null,
  },
  {
    name: 'a multusName without namespace is one of the agent',
    pool: { multusNames: ['a'] },
    request: { multusName: 'kube-system/a' },
    expected: null,
  },
  {
    name: 'a multusName without namespace is not one of the pod',
    pool: { multusNames: ['a'] },
    request: { multusName: 'prod/a' },
    expected: { rule: 'multus', text: 'Multus network "prod/a" of eth0 is not in multusName [kube-system/a]' },
  },
  {
    name: 'multusName and a network that is unknown for a reason',
    pool: { multusNames: ['a'] },
    request: { multusUnknownBecause: 'annotation x: bad JSON' },
    expected: {
      rule: 'multus',
      text: 'Multus network of eth0 is unknown (annotation x: bad JSON), it must be one of multusName [kube-system/a]',
    },
  },
  {
    name: 'multusName and an unknown network',
    pool: { multusNames: ['a'] },
    expected: {
      rule: 'multus',
      text: 'Multus network of eth0 is unknown, it must be one of multusName [kube-system/a]',
    },
  },
  {
    name: 'all addresses excluded',
    pool: { ips: [] },
    expected: { rule: 'addresses', text: 'it has no address: ips is empty or all of it is excluded' },
  },
  {
    name: 'all addresses reserved',
    pool: { ips: ['10.0.0.5-10.0.0.9'] },
    reserved: ['10.0.0.1-10.0.0.6', '10.0.0.7-10.0.0.20'],
    expected: { rule: 'addresses', text: 'all its addresses are reserved' },
  },
  {
    name: 'all but one address reserved',
    pool: { ips: ['10.0.0.5-10.0.0.9'] },
    reserved: ['10.0.0.1-10.0.0.8'],
    expected: null,
  },
];

test.each(CASES)('$name', ({ pool, request, reserved, expected }) => {
  const facts = { ...FACTS, reserved: IntervalSet.of((reserved ?? []).map(parseRange)) };
  expect(findObjection(buildPool(pool), buildRequest(request), facts)).toEqual(expected);
});

const AUTO = { subnet: 's', interface: 'eth0', applicationUid: 'u', reclaim: true };

describe('auto pools', () => {
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'prod', name: 'web', uid: 'u' };
  const madeForWeb: PoolOverrides = {
    auto: AUTO,
    podAffinity: application('apps', 'v1', 'Deployment', 'prod', 'web'),
  };
  const madeForCore: PoolOverrides = {
    auto: AUTO,
    podAffinity: application('', 'v1', 'ReplicationController', 'prod', 'rc'),
  };

  test.each([
    { name: 'made for the controller', pool: madeForWeb, controller: web },
    {
      name: 'made for a controller of the core group',
      pool: madeForCore,
      controller: { ...web, apiVersion: 'v1', kind: 'ReplicationController', name: 'rc' },
    },
  ])('serve: $name', ({ pool, controller }) => {
    expect(findObjection(buildPool(pool), buildRequest({ controller }), FACTS)).toBeNull();
  });

  test('object to a pod that is not of the controller that it names', () => {
    const request = buildRequest({ controller: web, controllerDoubt: 'Deployment prod/web wants other pods' });
    expect(findObjection(buildPool(madeForWeb), request, FACTS)).toEqual({
      rule: 'pod',
      text: 'Deployment prod/web wants other pods',
    });
    expect(findObjection(buildPool(), request, FACTS)).toBeNull();
  });

  test.each([
    {
      name: 'another group',
      controller: { ...web, apiVersion: 'kruise.io/v1' },
      text: 'ipam.spidernet.io/app-api-group is "apps" and not "kruise.io"',
    },
    {
      name: 'another version',
      controller: { ...web, apiVersion: 'apps/v2' },
      text: 'ipam.spidernet.io/app-api-version is "v1" and not "v2"',
    },
    {
      name: 'another kind',
      controller: { ...web, kind: 'StatefulSet' },
      text: 'ipam.spidernet.io/app-kind is "Deployment" and not "StatefulSet"',
    },
    {
      name: 'another namespace',
      controller: { ...web, namespace: 'dev' },
      text: 'ipam.spidernet.io/app-namespace is "prod" and not "dev"',
    },
    {
      name: 'another name',
      controller: { ...web, name: 'db' },
      text: 'ipam.spidernet.io/app-name is "web" and not "db"',
    },
  ])('object to $name', ({ controller, text }) => {
    expect(findObjection(buildPool(madeForWeb), buildRequest({ controller }), FACTS)).toEqual({
      rule: 'pod',
      text: `it was made for another application: ${text}`,
    });
  });

  test('object to a pod without a controller', () => {
    expect(findObjection(buildPool(madeForWeb), buildRequest(), FACTS)).toEqual({
      rule: 'pod',
      text: 'it was made for one application, the pod has no controller',
    });
  });

  test('object to any controller while one of the five keys is missing', () => {
    const pool = buildPool({ auto: AUTO, podAffinity: labels({ 'ipam.spidernet.io/app-name': 'web' }) });
    expect(findObjection(pool, buildRequest({ controller: web }), FACTS)).toMatchObject({ rule: 'pod' });
  });

  test('never look at labels of the pod', () => {
    const pod = { labels: madeForWeb.podAffinity?.matchLabels ?? {} };
    expect(findObjection(buildPool(madeForWeb), buildRequest({ pod }), FACTS)).toMatchObject({ rule: 'pod' });
  });

  test('are checked for the rest too', () => {
    const pool = buildPool({ ...madeForWeb, multusNames: ['net/a'] });
    const request = buildRequest({ controller: web, multusName: 'net/b' });
    expect(findObjection(pool, request, FACTS)).toMatchObject({ rule: 'multus' });
  });
});

test('the first objection in the order of the rules is the one shown', () => {
  const wrong: [string, PoolOverrides][] = [
    ['terminating', { isTerminating: true }],
    ['disabled', { isDisabled: true }],
    ['family', { subnet: 'fd00::/64' }],
    ['node', { nodeNames: ['x'] }],
    ['namespace', { namespaceNames: ['x'] }],
    ['pod', { podAffinity: labels({ x: 'x' }) }],
    ['multus', { multusNames: ['x'] }],
    ['addresses', { ips: [] }],
  ];
  wrong.forEach(([rule], index) => {
    const pool = buildPool(Object.assign({}, ...wrong.slice(index).map(([, overrides]) => overrides)));
    expect(findObjection(pool, buildRequest(), FACTS)?.rule).toBe(rule);
  });
});

test('a pool that overlaps an earlier one gives nothing out', () => {
  const overlaps = new Map([['late', 'pool late and pool early both hold 10.0.0.5']]);
  const objection = findObjection(buildPool({ name: 'late' }), buildRequest(), { ...FACTS, overlaps });
  expect(objection).toEqual({ rule: 'overlap', text: 'pool late and pool early both hold 10.0.0.5' });
  expect(findObjection(buildPool({ name: 'early' }), buildRequest(), { ...FACTS, overlaps })).toBeNull();
});

test('an objection stays readable however long the lists of a pool are', () => {
  const nodeNames = Array.from({ length: 5000 }, (_, index) => `node-${index}`);
  const text = findObjection(buildPool({ nodeNames }), buildRequest(), FACTS)?.text ?? '';
  expect(text).toMatch(/^node worker-1 is not in nodeName \[node-0, .*, node-9 … and 4990 more\]$/);
  const huge = findObjection(
    buildPool({ multusNames: ['a'] }),
    buildRequest({ multusName: 'x\n'.repeat(9000) }),
    FACTS,
  );
  expect(huge?.text.length).toBeLessThan(300);
  expect(huge?.text).not.toContain('\n');
});

test('candidates are sorted out into those to try, best first, and those objected to', () => {
  const general = { pool: buildPool({ name: 'general' }), listedAt: 0 };
  const off = { pool: buildPool({ name: 'off', isDisabled: true }), listedAt: 1 };
  const special = { pool: buildPool({ name: 'special', nodeNames: ['worker-1'] }), listedAt: 2 };
  const other = { pool: buildPool({ name: 'other', nodeNames: ['worker-2'] }), listedAt: 3 };
  const { eligible, objected } = sortOut([general, off, special, other], buildRequest(), FACTS);
  expect(eligible).toEqual([special, general]);
  expect(objected).toEqual([
    { pool: off.pool, objection: { rule: 'disabled', text: 'it is disabled' } },
    { pool: other.pool, objection: { rule: 'node', text: 'node worker-1 is not in nodeName [worker-2]' } },
  ]);
  expect(explainObjections(objected)).toBe('off: it is disabled\nother: node worker-1 is not in nodeName [worker-2]');
});

test('an explanation is bounded', () => {
  const objected = Array.from({ length: 60 }, () => ({ pool: buildPool(), objection: { rule: 'x', text: 'y' } }));
  const lines = explainObjections(objected).split('\n');
  expect(lines).toHaveLength(51);
  expect(lines.at(-1)).toBe('… and 10 more pools');
});

function labels(matchLabels: Record<string, string>): LabelSelector {
  return { matchLabels, matchExpressions: [] };
}

function application(group: string, version: string, kind: string, namespace: string, name: string): LabelSelector {
  return labels({
    'ipam.spidernet.io/app-api-group': group,
    'ipam.spidernet.io/app-api-version': version,
    'ipam.spidernet.io/app-kind': kind,
    'ipam.spidernet.io/app-namespace': namespace,
    'ipam.spidernet.io/app-name': name,
  });
}
