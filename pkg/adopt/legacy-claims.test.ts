import { expect, test } from 'vitest';
import { formatAddress } from '#pkg/ip/address.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { readLegacyClaims } from './legacy-claims.ts';

const meta = (name: string, namespace?: string) => ({
  name,
  uid: 'u',
  resourceVersion: '1',
  ...(namespace === undefined ? {} : { namespace }),
});
const pool = (name: string, allocatedIPs?: unknown): KubeObject => ({ metadata: meta(name), status: { allocatedIPs } });
const endpoint = (...ips: object[]): KubeObject => ({
  metadata: meta('web-0', 'prod'),
  status: { ownerControllerType: 'StatefulSet', ownerControllerName: 'web', current: { uid: 'u-1', node: 'n-1', ips } },
});

test('a fresh cluster has none', () => {
  const pools = [{ metadata: meta('v4') }, pool('v5', null), pool('v6', '')];
  expect(readLegacyClaims(pools, [{ metadata: meta('x', 'y') }])).toEqual({ claims: [], unreadable: [] });
});

test('pools tell who, endpoints tell where', () => {
  const allocated = JSON.stringify({ '10.0.0.5': { pod: 'prod/web-0', podUid: 'u-1' } });
  const ips = {
    interface: 'eth0',
    ipv4: '10.0.0.5/24',
    ipv4Pool: 'v4',
    ipv4Gateway: '10.0.0.1',
    ipv6: 'fd00::a/64',
    ipv6Pool: 'v6',
  };
  const { claims } = readLegacyClaims([pool('v4', allocated)], [endpoint(ips)]);
  const owner = { ownerKind: 'StatefulSet', ownerName: 'web', node: 'n-1', interface: 'eth0', uid: 'u-1' };
  expect(claims.map(({ address, ...claim }) => ({ ...claim, address: formatAddress(address) }))).toEqual([
    { by: 'pool', address: '10.0.0.5', pool: 'v4', namespace: 'prod', name: 'web-0', uid: 'u-1' },
    {
      by: 'endpoint',
      address: '10.0.0.5',
      pool: 'v4',
      namespace: 'prod',
      name: 'web-0',
      gateway: '10.0.0.1',
      ...owner,
    },
    { by: 'endpoint', address: 'fd00::a', pool: 'v6', namespace: 'prod', name: 'web-0', ...owner },
  ]);
});

test('of what an endpoint says of the way out each family gets its own routes, in the form of a record', () => {
  const routes = [
    { dst: '10.7.3.1/16', gw: '10.0.0.2' },
    { dst: 'FD01:0::/64', gw: 'fd00:0::2' },
    { dst: '0.0.0.0/0', gw: '10.0.0.3' },
  ];
  const ips = { interface: 'eth0', ipv4: '10.0.0.5/24', ipv6: 'fd00::a/64', cleanGateway: true, routes };
  expect(readLegacyClaims([], [endpoint(ips)]).claims).toMatchObject([
    {
      cleanGateway: true,
      routes: [
        { dst: '10.7.0.0/16', gw: '10.0.0.2' },
        { dst: '0.0.0.0/0', gw: '10.0.0.3' },
      ],
    },
    { cleanGateway: true, routes: [{ dst: 'fd01::/64', gw: 'fd00::2' }] },
  ]);
});

const route = { dst: '10.7.0.0/16', gw: '10.0.0.2' };

test.each([
  { name: 'no list', routes: 'x', why: ': expected a list, found "x"' },
  { name: 'no route', routes: [route, null], why: '[1]: expected an object, found nothing' },
  { name: 'a bare address', routes: [{ ...route, dst: '10.7.0.1' }], why: '[0].dst: 10.7.0.1 has no prefix length' },
  { name: 'no gateway', routes: [{ dst: '10.7.0.0/16' }], why: '[0].gw: expected a string, found nothing' },
  { name: 'two families', routes: [{ ...route, gw: 'fd00::1' }], why: '[0]: mixes IPv4 and IPv6' },
  { name: 'endless text', routes: [{ ...route, gw: '1'.repeat(9_000) }], why: 'is longer than 64 characters' },
  { name: 'too many', routes: Array(1_001).fill(route), why: ': has 1001 items, at most 1000 are allowed' },
])('routes that cannot be read are told, never dropped: $name', ({ routes, why }) => {
  const { unreadable } = readLegacyClaims([], [endpoint({ ipv4: '10.0.0.5/24', routes })]);
  expect(unreadable).toEqual([expect.stringContaining(why) as string]);
  expect(unreadable[0]).toMatch(/^endpoint prod\/web-0: status\.current\.ips\[0\]\.routes/);
});

test.each([undefined, false, 'true', 1])('a clean gateway is one that says true, not %j', (cleanGateway) => {
  const [claim] = readLegacyClaims([], [endpoint({ ipv4: '10.0.0.5/24', cleanGateway })]).claims;
  expect(claim).not.toHaveProperty('cleanGateway');
});

test('entries that no NIC has claimed are named by their position', () => {
  const ips = [
    { interface: '', ipv4: '10.0.0.5/24' },
    { interface: '', ipv4: '10.0.0.6/24' },
  ];
  const { claims } = readLegacyClaims([], [endpoint(...ips)]);
  expect(claims.map((claim) => claim.interface)).toEqual(['eth0', 'net1']);
});

test.each(['{', '[]', '"x"', 7])('a status that cannot be read is told: %s', (text) => {
  expect(readLegacyClaims([pool('v4', text)], []).unreadable).toEqual(['pool v4: status.allocatedIPs cannot be read']);
});

test('a bad address and a bad pod are named', () => {
  const status = '{"10.0.0":{"pod":"a/b"},"10.0.0.1":{},"10.0.0.2":{"pod":"a/b/c"}}';
  expect(readLegacyClaims([pool('v4', status)], [endpoint({ ipv4: 5 })]).unreadable).toEqual([
    'pool v4: "10.0.0" is no address',
    'pool v4: the pod of 10.0.0.1 cannot be read',
    'pool v4: the pod of 10.0.0.2 cannot be read',
    'endpoint prod/web-0: status.current.ips has a bad ipv4',
  ]);
});
