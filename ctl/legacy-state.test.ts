import { expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/kube-object.ts';
import { findLegacyState } from './legacy-state.ts';

const meta = (name: string, namespace?: string) => ({
  name,
  uid: 'u',
  resourceVersion: '1',
  ...(namespace === undefined ? {} : { namespace }),
});
const pool = (name: string, allocatedIPs?: unknown): KubeObject => ({ metadata: meta(name), status: { allocatedIPs } });
const endpoint = (...ips: object[]): KubeObject => ({ metadata: meta('web-0', 'prod'), status: { current: { ips } } });
const find = (pools: KubeObject[], endpoints: KubeObject[], ...records: string[]) =>
  findLegacyState({
    pools,
    endpoints,
    records: new Set(records),
    domainOf: (name) => (name === 'blue' ? 'blue' : 'default'),
  });

test('a fresh cluster has none', () => {
  expect(find([{ metadata: meta('v4') }, pool('v5', null), pool('v6', '')], [{ metadata: meta('x', 'y') }])).toEqual({
    addresses: [],
    unreadable: [],
  });
});

test('addresses without a record are found in pools and endpoints', () => {
  const allocated = JSON.stringify({ '10.0.0.5': { pod: 'prod/web-0', podUid: 'u' }, '10.0.0.6': {} });
  const ips = { interface: 'eth0', ipv4: '10.0.0.5/24', ipv4Pool: 'v4', ipv6: 'fd00::a/64', ipv6Pool: 'v6' };
  expect(find([pool('v4', allocated)], [endpoint(ips)]).addresses).toEqual([
    { address: '10.0.0.5', where: 'pool v4', holder: 'prod/web-0' },
    { address: '10.0.0.6', where: 'pool v4', holder: 'unknown' },
    { address: '10.0.0.5', where: 'endpoint prod/web-0', holder: 'prod/web-0' },
    { address: 'fd00::a', where: 'endpoint prod/web-0', holder: 'prod/web-0' },
  ]);
});

test('what has its record in its domain is ours', () => {
  const one = JSON.stringify({ '10.0.0.5': { pod: 'prod/web-0' } });
  const ips = { ipv4: '10.0.0.5/24', ipv4Pool: 'v4' };
  expect(find([pool('v4', one)], [endpoint(ips)], '10.0.0.5').addresses).toEqual([]);
  expect(find([pool('blue', one)], [], '10.0.0.5').addresses).toHaveLength(1);
  expect(find([pool('blue', one)], [], '10.0.0.5.blue').addresses).toEqual([]);
});

test.each(['{', '[]', '"x"', 7])('a status that cannot be read counts as state: %s', (text) => {
  expect(find([pool('v4', text)], []).unreadable).toEqual(['pool v4: status.allocatedIPs cannot be read']);
});

test('a bad address is named', () => {
  expect(find([pool('v4', '{"10.0.0":{}}')], [endpoint({ ipv4: 5 })]).unreadable).toEqual([
    'pool v4: "10.0.0" is no address',
    'endpoint prod/web-0: status.current.ips has a bad ipv4',
  ]);
});
