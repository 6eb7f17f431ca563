import { describe, expect, test } from 'vitest';
import { useSharedServer } from '#test/support/shared-api-server.ts';
import { refusal } from './crd-refusal.ts';
import { pathOf, SpiderApi } from './crd-spider-api.ts';

const server = useSharedServer();
const api = new SpiderApi(server);

const NETWORK = { subnet: '10.6.0.0/16', ips: ['10.6.1.10-10.6.1.20'] };
const route = { dst: '10.7.0.0/16', gw: '10.6.0.2' };
const routed = (change: object) => ({ ...NETWORK, routes: [{ ...route, ...change }] });
const hex = (n: number) => (0x1000 + n).toString(16);
/** The largest allowed number of entries, each of the largest allowed length. */
const LARGEST = {
  subnet: '2001:1db8:1000:1000:1000:1000::/96',
  ips: Array.from({ length: 1_000 }, (_, n) =>
    ['1000', '1fff'].map((last) => `2001:1db8:1000:1000:1000:1000:${hex(n)}:${last}`).join('-'),
  ),
  routes: Array.from({ length: 1_000 }, (_, n) => ({
    dst: `2001:1db9:1000:1000:1000:1000:${hex(n)}:1000/128`,
    gw: '2001:1db8:1000:1000:1000:1000:1000:1000',
  })),
};
const IPV6 = {
  ipVersion: 6,
  subnet: 'fd00::/64',
  ips: ['FD00::10-fd00:0:0:0::20', 'fd00::30'],
  excludeIPs: ['fd00::12'],
  gateway: 'FD00::1',
  routes: [{ dst: 'fd01::5/32', gw: 'FD00::2' }],
};

const ACCEPTED = [
  { name: 'a subnet alone', spec: { subnet: '10.6.0.0/16' } },
  { name: 'no address', spec: { ...NETWORK, ips: [] } },
  { name: 'an address and a range', spec: { ...NETWORK, ips: ['10.6.0.9', '10.6.1.0-10.6.1.255'] } },
  { name: 'the version', spec: { ...NETWORK, ipVersion: 4 } },
  { name: 'a gateway', spec: { ...NETWORK, gateway: '10.6.0.1' } },
  { name: 'a route', spec: routed({}) },
  { name: 'a route with host bits', spec: routed({ dst: '10.7.0.1/16' }) },
  { name: 'no routes, said aloud', spec: { ...NETWORK, routes: [] } },
  { name: 'a subnet of one address', spec: { subnet: '10.6.0.1/32', ips: ['10.6.0.1'] } },
  { name: 'IPv6 in any spelling', spec: IPV6 },
  { name: 'a neighbour of the mapped addresses', spec: { subnet: '::fffe:0:0/96' } },
  { name: '1,000 items in each list, each as long as it can be', spec: { ...LARGEST, excludeIPs: LARGEST.ips } },
  // CEL cannot check these; the decoder and the webhook do.
  { name: 'a reversed range', spec: { ...NETWORK, ips: ['10.6.0.9-10.6.0.1'] } },
  { name: 'ranges that overlap', spec: { ...NETWORK, ips: ['10.6.0.1-10.6.0.9', '10.6.0.5'] } },
  { name: 'a gateway to hand out', spec: { ...NETWORK, gateway: '10.6.1.10' } },
  { name: 'two routes to one network', spec: { ...NETWORK, routes: [route, route] } },
];

const NOT_CANONICAL = 'spec.subnet: … is not a network in canonical CIDR form';
const NO_RANGE = 'is not an IP address or a range such as';
const REFUSED = [
  { name: 'no subnet', spec: { ips: [] }, message: 'spec.subnet: Required value' },
  { name: 'a subnet that is none', spec: { subnet: 'lan' }, message: NOT_CANONICAL },
  { name: 'a subnet without prefix', spec: { subnet: '10.6.0.0' }, message: NOT_CANONICAL },
  { name: 'host bits', spec: { subnet: '10.6.0.1/16' }, message: NOT_CANONICAL },
  { name: 'a subnet in a second spelling', spec: { subnet: 'FD00::/64' }, message: NOT_CANONICAL },
  { name: 'a prefix too long', spec: { subnet: '10.6.0.0/33' }, message: NOT_CANONICAL },
  { name: 'a subnet over mapped IPv4', spec: { subnet: '::/64' }, message: 'covers IPv4-mapped addresses' },
  { name: 'the smallest such subnet', spec: { subnet: '::fffe:0:0/95' }, message: 'covers IPv4-mapped addresses' },
  { name: 'all of IPv6', spec: { subnet: '::/0' }, message: 'covers IPv4-mapped addresses' },
  { name: 'the mapped addresses themselves', spec: { subnet: '::ffff:0:0/96' }, message: NOT_CANONICAL },
  { name: 'another version', spec: { ...NETWORK, ipVersion: 6 }, message: 'does not agree with the subnet' },
  { name: 'a version there is not', spec: { ...NETWORK, ipVersion: 5 }, message: 'spec.ipVersion: Unsupported value' },
  { name: 'a version as text', spec: { ...NETWORK, ipVersion: '4' }, message: 'spec.ipVersion: Invalid value' },
  {
    name: 'a CIDR in ips',
    spec: { ...NETWORK, ips: ['10.6.1.0/24'] },
    message: `spec.ips[0]: … ${NO_RANGE}`,
  },
  { name: 'blanks in a range', spec: { ...NETWORK, ips: ['10.6.0.1 - 10.6.0.9'] }, message: NO_RANGE },
  { name: 'a range without end', spec: { ...NETWORK, ips: ['10.6.0.1-'] }, message: NO_RANGE },
  { name: 'a range without beginning', spec: { ...NETWORK, ips: ['-10.6.0.1'] }, message: NO_RANGE },
  {
    name: 'a short end',
    spec: { ...NETWORK, ips: ['10.6.0.1', '10.6.0.1-9'] },
    message: `spec.ips[1]: … ${NO_RANGE}`,
  },
  { name: 'three ends', spec: { ...NETWORK, ips: ['10.6.0.1-10.6.0.2-10.6.0.3'] }, message: NO_RANGE },
  { name: 'an empty item', spec: { ...NETWORK, ips: [''] }, message: NO_RANGE },
  {
    name: 'two families in a range',
    spec: { ...NETWORK, ips: ['10.6.0.1-fd00::1'] },
    message: 'spec.ips[0]: … mixes IPv4 and IPv6',
  },
  {
    name: 'an exclusion that is none',
    spec: { ...NETWORK, excludeIPs: ['x'] },
    message: `spec.excludeIPs[0]: … ${NO_RANGE}`,
  },
  {
    name: 'ips of the other family',
    spec: { ...NETWORK, ips: ['10.6.0.1', 'fd00::1'] },
    message: 'spec.ips: … fd00::1 is not in the subnet 10.6.0.0/16',
  },
  {
    name: 'ips that begin too low',
    spec: { ...NETWORK, ips: ['10.5.255.255-10.6.0.5'] },
    message: '10.5.255.255-10.6.0.5 is not in the subnet 10.6.0.0/16',
  },
  {
    name: 'ips that end too high',
    spec: { ...NETWORK, ips: ['10.6.0.5-10.7.0.0'] },
    message: '10.6.0.5-10.7.0.0 is not in the subnet',
  },
  {
    name: 'an exclusion outside',
    spec: { ...NETWORK, excludeIPs: ['10.7.0.1'] },
    message: 'spec.excludeIPs: … 10.7.0.1 is not in the subnet',
  },
  {
    name: 'a gateway outside',
    spec: { ...NETWORK, gateway: '10.7.0.1' },
    message: 'spec.gateway: … is not an address in the subnet',
  },
  {
    name: 'an empty gateway',
    spec: { ...NETWORK, gateway: '' },
    message: 'spec.gateway: … is not an address in the subnet',
  },
  {
    name: 'a gateway of the other family',
    spec: { ...NETWORK, gateway: 'fd00::1' },
    message: 'is not an address in the subnet',
  },
  {
    name: 'the default route',
    spec: routed({ dst: '0.0.0.0/0' }),
    message: 'spec.routes[0].dst: … is the default route; set spec.gateway',
  },
  {
    name: 'the default route of IPv6',
    spec: { subnet: 'fd00::/64', routes: [{ dst: '::/0', gw: 'fd00::1' }] },
    message: 'is the default route',
  },
  {
    name: 'a destination that is none',
    spec: routed({ dst: '10.7.0.0' }),
    message: 'spec.routes[0].dst: … is not a network in CIDR form',
  },
  {
    name: 'a destination of the other family',
    spec: routed({ dst: 'fd01::/64' }),
    message: 'has a dst that is not of the family of the subnet',
  },
  {
    name: 'a next hop outside',
    spec: routed({ gw: '10.8.0.1' }),
    message: 'spec.routes: … has a gw that is not in the subnet',
  },
  {
    name: 'a next hop that is none',
    spec: routed({ gw: 'x' }),
    message: 'spec.routes[0].gw: … is not an IP address',
  },
  {
    name: 'a route without next hop',
    spec: { ...NETWORK, routes: [{ dst: '10.7.0.0/16' }] },
    message: 'spec.routes[0].gw: Required value',
  },
  {
    name: '1,001 ips',
    spec: { ...NETWORK, ips: Array(1_001).fill('10.6.0.1') },
    message: 'spec.ips: Too many: 1001: must have at most 1000 items',
  },
];

const CHANGES = [
  { name: 'may get other addresses', spec: { ...NETWORK, ipVersion: 4, ips: ['10.6.9.9'] }, status: 200 },
  { name: 'may be replaced by a file without the version', spec: NETWORK, status: 200 },
  { name: 'keeps its subnet', spec: { subnet: '10.6.0.0/17', ipVersion: 4 }, status: 422 },
  { name: 'keeps its version', spec: { ...NETWORK, ipVersion: 6 }, status: 422 },
  { name: 'keeps both', spec: { subnet: 'fd00::/64', ipVersion: 6 }, status: 422 },
];

describe.each(['SpiderIPPool', 'SpiderSubnet'] as const)('the network of a %s', (kind) => {
  test.each(ACCEPTED)('is accepted: $name', async ({ spec }) => {
    expect(await api.tryCreate(kind, { spec })).toMatchObject({ status: 201, body: { spec } });
  });

  test.each(REFUSED)('is refused: $name', async ({ spec, message }) => {
    expect(await api.tryCreate(kind, { spec })).toMatchObject(refusal(message));
  });

  test('is refused: nothing', async () => {
    expect(await api.tryCreate(kind, {})).toMatchObject({ status: 422 });
  });

  test('gives one message for one fault', async () => {
    const { body } = await api.tryCreate(kind, { spec: { ...IPV6, subnet: 'fd00::/129' } });
    expect((body as { details: { causes: unknown[] } }).details.causes).toHaveLength(1);
  });

  test.each(CHANGES)('$name', async ({ spec, status }) => {
    const before = { spec: { ...NETWORK, ipVersion: 4 } };
    expect(await api.replace(kind, before, { spec })).toMatchObject({ status });
  });

  test('has a status of its own, which leaves the spec alone', async () => {
    const { body } = await api.create(kind, 'counted', { spec: NETWORK, status: { totalIPCount: 5 } });
    expect(body).not.toHaveProperty('status');
    const lastTransitionTime = '2026-11-16T10:00:00Z';
    const condition = { type: 'Ready', status: 'True', reason: 'Served', message: '', lastTransitionTime };
    const status = { allocatedIPCount: 3, totalIPCount: 2 ** 53, conditions: [condition] };
    const next = { ...(body as object), spec: { subnet: '10.9.0.0/16' }, status };
    const answer = await api.send('PUT', `${pathOf(kind, 'counted')}/status`, next);
    expect(answer).toMatchObject({ status: 200, body: { spec: NETWORK, status, metadata: { generation: 1 } } });
  });
});
