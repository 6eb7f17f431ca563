import { describe, expect, test } from 'vitest';
import { parseAddress } from '#pkg/ip/address.ts';
import { parseCidr } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import { decodePool } from './decode-pool.ts';

const SPEC = { subnet: '10.0.0.0/24', ips: ['10.0.0.10-10.0.0.20'] };
const pool = (spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'spiderpool.spidernet.io/v2beta1',
  kind: 'SpiderIPPool',
  metadata: { name: 'pool-a', ...metadata },
  spec: { ...SPEC, ...spec },
});
const annotated = (annotations: object) => pool({}, { annotations });
const setOf = (...texts: string[]) => IntervalSet.of(texts.map(parseRange));

test('the smallest pool has defaults for all the rest', () => {
  expect(decodePool(pool())).toEqual({
    name: 'pool-a',
    uid: '',
    family: 4,
    subnet: parseCidr('10.0.0.0/24'),
    addresses: setOf('10.0.0.10-10.0.0.20'),
    gateway: null,
    routes: [],
    podAffinity: null,
    namespaceAffinity: null,
    namespaceNames: [],
    nodeAffinity: null,
    nodeNames: [],
    multusNames: [],
    auto: null,
    isDefault: false,
    isDisabled: false,
    isTerminating: false,
    domain: 'default',
    reuseCooldownSeconds: 0,
    detectConflict: null,
    detectGateway: null,
    hasProxyArp: false,
  });
});

test('a full pool is read whole', () => {
  const full = pool(
    {
      ipVersion: 6,
      subnet: 'fd00::/64',
      ips: ['FD00::10-fd00::20', 'fd00::30'],
      excludeIPs: ['fd00::12-fd00::14', 'fd00::13'],
      gateway: 'FD00::1',
      routes: [{ dst: 'fd01::5/32', gw: 'FD00::2' }],
      podAffinity: { matchLabels: { app: 'web' } },
      namespaceAffinity: {},
      namespaceName: ['prod'],
      nodeAffinity: { matchExpressions: [{ key: 'zone', operator: 'Exists' }] },
      nodeName: ['worker-1', 'worker-2'],
      multusName: ['kube-system/macvlan', 'ipvlan'],
      default: true,
      disable: true,
    },
    {
      uid: '4f0c',
      deletionTimestamp: '2026-11-16T10:00:00Z',
      annotations: {
        'ipledger.io/domain': 'blue',
        'ipledger.io/reuse-cooldown': '5m',
        'ipledger.io/proxy-arp': 'true',
        other: 'x',
      },
      managedFields: [{ anything: 1 }],
    },
  );
  expect(decodePool({ ...full, status: { allocatedIPs: 3 } })).toEqual({
    name: 'pool-a',
    uid: '4f0c',
    family: 6,
    subnet: parseCidr('fd00::/64'),
    addresses: setOf('fd00::10-fd00::11', 'fd00::15-fd00::20', 'fd00::30'),
    gateway: parseAddress('fd00::1'),
    routes: [{ dst: 'fd01::/32', gw: 'fd00::2' }],
    podAffinity: { matchLabels: { app: 'web' }, matchExpressions: [] },
    namespaceAffinity: { matchLabels: {}, matchExpressions: [] },
    namespaceNames: ['prod'],
    nodeAffinity: { matchLabels: {}, matchExpressions: [{ key: 'zone', operator: 'Exists', values: [] }] },
    nodeNames: ['worker-1', 'worker-2'],
    multusNames: ['kube-system/macvlan', 'ipvlan'],
    auto: null,
    isDefault: true,
    isDisabled: true,
    isTerminating: true,
    domain: 'blue',
    reuseCooldownSeconds: 300,
    detectConflict: null,
    detectGateway: null,
    hasProxyArp: true,
  });
});

test('null is absent everywhere', () => {
  const fields = [
    'ipVersion',
    'excludeIPs',
    'gateway',
    'routes',
    'podAffinity',
    'namespaceAffinity',
    'namespaceName',
    'nodeAffinity',
    'nodeName',
    'multusName',
    'default',
    'disable',
  ];
  const nulls = Object.fromEntries(fields.map((name) => [name, null]));
  const bare = { uid: null, labels: null, annotations: null, deletionTimestamp: null };
  expect(decodePool(pool(nulls, bare))).toEqual(decodePool(pool()));
});

test('a pool without ips has no address', () => {
  expect(decodePool(pool({ ips: undefined })).addresses.isEmpty).toBe(true);
  expect(decodePool(pool({ ips: [] })).addresses.isEmpty).toBe(true);
});

test('a gateway inside ips is fine once it is excluded', () => {
  const { gateway } = decodePool(pool({ ips: ['10.0.0.1-10.0.0.9'], excludeIPs: ['10.0.0.1'], gateway: '10.0.0.1' }));
  expect(gateway).toEqual(parseAddress('10.0.0.1'));
});

test('an auto pool is known by its label and names its application', () => {
  const labels = {
    'ipam.spidernet.io/owner-application-name': 'web',
    'ipam.spidernet.io/owner-application-uid': 'u-1',
    'ipam.spidernet.io/owner-spider-subnet': 'office',
    'ipam.spidernet.io/interface': 'net1',
    'ipam.spidernet.io/ippool-reclaim': 'false',
  };
  const matchLabels = { 'ipam.spidernet.io/app-name': 'a'.repeat(200) };
  const { auto, podAffinity } = decodePool(pool({ podAffinity: { matchLabels } }, { labels }));
  expect(podAffinity?.matchLabels).toEqual(matchLabels);
  expect(auto).toEqual({ subnet: 'office', interface: 'net1', applicationUid: 'u-1', reclaim: false });
});

test('an auto pool whose other labels are missing is one of no application', () => {
  const labels = { 'ipam.spidernet.io/owner-application-name': 'web' };
  expect(decodePool(pool({}, { labels })).auto).toEqual({
    subnet: '',
    interface: '',
    applicationUid: '',
    reclaim: true,
  });
});

const domainPath = 'metadata.annotations["ipledger.io/domain"]';
const cooldownPath = 'metadata.annotations["ipledger.io/reuse-cooldown"]';

describe('it is refused:', () => {
  test.each<[name: string, value: unknown, message: string]>([
    ['a mistyped field', pool({ ipss: [] }), 'spec.ipss: unknown field; did you mean ips?'],
    ['no subnet', pool({ subnet: undefined }), 'spec.subnet: expected a string, found nothing'],
    [
      'host bits',
      pool({ subnet: '10.0.0.1/24' }),
      'spec.subnet: 10.0.0.1/24 has host bits set; did you mean 10.0.0.0/24?',
    ],
    [
      'a subnet over mapped IPv4',
      pool({ subnet: '::/64' }),
      'spec.subnet: ::/64 covers IPv4-mapped addresses (::ffff:0:0/96)',
    ],
    ['another family', pool({ ipVersion: 6 }), 'spec.ipVersion: 6 does not agree with the subnet 10.0.0.0/24'],
    ['a version as text', pool({ ipVersion: '4' }), 'spec.ipVersion: expected 4 or 6, found "4"'],
    ['ips as text', pool({ ips: '10.0.0.1' }), 'spec.ips: expected a list, found "10.0.0.1"'],
    ['1,001 ips', pool({ ips: Array(1001).fill('10.0.0.1') }), 'spec.ips: has 1001 items, at most 1000 are allowed'],
    ['an item that is no text', pool({ ips: ['10.0.0.1', 2] }), 'spec.ips[1]: expected a string, found 2'],
    [
      'a reversed range',
      pool({ ips: ['10.0.0.9-10.0.0.1'] }),
      'spec.ips[0]: 10.0.0.9-10.0.0.1 is reversed: the first address must not be above the last',
    ],
    [
      'ips of another family but equal number',
      pool({ ips: ['::a00:5'] }),
      'spec.ips[0]: ::a00:5 is not in the subnet 10.0.0.0/24',
    ],
    ['ips of another family', pool({ ips: ['fd00::1'] }), 'spec.ips[0]: fd00::1 is not in the subnet 10.0.0.0/24'],
    [
      'ips that begin too low',
      pool({ ips: ['9.255.255.255-10.0.0.5'] }),
      'spec.ips[0]: 9.255.255.255-10.0.0.5 is not in the subnet 10.0.0.0/24',
    ],
    [
      'ips that end too high',
      pool({ ips: ['10.0.0.250-10.0.1.0'] }),
      'spec.ips[0]: 10.0.0.250-10.0.1.0 is not in the subnet 10.0.0.0/24',
    ],
    [
      'ips that overlap',
      pool({ ips: ['10.0.0.5-10.0.0.9', '10.0.0.50', '10.0.0.1-10.0.0.5'] }),
      'spec.ips[0]: 10.0.0.5-10.0.0.9 overlaps spec.ips[2] (10.0.0.1-10.0.0.5)',
    ],
    [
      'the same address twice',
      pool({ ips: ['10.0.0.5', '10.0.0.5'] }),
      'spec.ips[1]: 10.0.0.5 overlaps spec.ips[0] (10.0.0.5)',
    ],
    [
      'an exclusion outside',
      pool({ excludeIPs: ['10.0.1.1'] }),
      'spec.excludeIPs[0]: 10.0.1.1 is not in the subnet 10.0.0.0/24',
    ],
    ['a gateway outside', pool({ gateway: '10.0.1.1' }), 'spec.gateway: 10.0.1.1 is not in the subnet 10.0.0.0/24'],
    [
      'a gateway to hand out',
      pool({ gateway: '10.0.0.10' }),
      'spec.gateway: 10.0.0.10 is also in spec.ips; take it out or add it to spec.excludeIPs',
    ],
    ['an empty gateway', pool({ gateway: '' }), 'spec.gateway: "" is not an IP address'],
    ['a bad selector', pool({ nodeAffinity: { labels: {} } }), 'spec.nodeAffinity.labels: unknown field'],
    ['a node name as text', pool({ nodeName: 'worker-1' }), 'spec.nodeName: expected a list, found "worker-1"'],
    ['an empty name', pool({ namespaceName: [''] }), 'spec.namespaceName[0]: must not be empty'],
    ['a switch as text', pool({ disable: 'yes' }), 'spec.disable: expected true or false, found "yes"'],
    [
      'a bad domain',
      annotated({ 'ipledger.io/domain': 'a.b' }),
      `${domainPath}: "a.b" is not a DNS label: lower case letters, digits and inner hyphens, at most 63 characters`,
    ],
    [
      'a bad cooldown',
      annotated({ 'ipledger.io/reuse-cooldown': '5 min' }),
      `${cooldownPath}: "5 min" is not a duration such as 90s, 5m or 1h30m`,
    ],
    [
      'a cooldown over a week',
      annotated({ 'ipledger.io/reuse-cooldown': '200h' }),
      `${cooldownPath}: 200h is more than the allowed 168h`,
    ],
  ])('%s', (_, value, message) => {
    expect(() => decodePool(value)).toThrow(expect.objectContaining({ reason: 'bad-input', message }));
  });
});
