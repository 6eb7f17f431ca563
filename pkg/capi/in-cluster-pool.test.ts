import { expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { readInClusterPool, toSpiderPool } from './in-cluster-pool.ts';

const draft = (spec: object, namespace?: string) => {
  const metadata = { name: 'lab', uid: 'u', resourceVersion: '1', ...(namespace === undefined ? {} : { namespace }) };
  return toSpiderPool(readInClusterPool({ metadata, spec } as unknown as KubeObject, 'InClusterIPPool'));
};

test.each([
  {
    name: 'a range, whose gateway is never given out',
    spec: { addresses: ['10.0.0.1-10.0.0.9'], prefix: 24, gateway: '10.0.0.1' },
    expected: { subnet: '10.0.0.0/24', ips: ['10.0.0.2-10.0.0.9'], gateway: '10.0.0.1' },
  },
  {
    name: 'a CIDR: without network and broadcast address',
    spec: { addresses: ['10.0.0.0/24'], prefix: 24 },
    expected: { subnet: '10.0.0.0/24', ips: ['10.0.0.1-10.0.0.254'] },
  },
  {
    name: 'a CIDR with its reserved addresses',
    spec: { addresses: ['10.0.0.0/24'], prefix: 24, allocateReservedIPAddresses: true },
    expected: { subnet: '10.0.0.0/24', ips: ['10.0.0.0-10.0.0.255'] },
  },
  {
    name: 'single addresses in any order, overlaps and exclusions',
    spec: { addresses: ['10.0.0.9', '10.0.0.4-10.0.0.7', '10.0.0.6'], excludedAddresses: ['10.0.0.5'], prefix: 24 },
    expected: { subnet: '10.0.0.0/24', ips: ['10.0.0.4', '10.0.0.6-10.0.0.7', '10.0.0.9'] },
  },
  {
    name: 'IPv6: the last address is given out, the first is not',
    spec: { addresses: ['fd00::/126'], prefix: 126 },
    expected: { subnet: 'fd00::/126', ips: ['fd00::1-fd00::3'] },
  },
  {
    name: 'a gateway outside of the subnet, which is left out',
    spec: { addresses: ['10.0.0.5'], prefix: 24, gateway: '192.0.2.1' },
    expected: { subnet: '10.0.0.0/24', ips: ['10.0.0.5'] },
  },
])('a pool of the in-cluster provider with $name becomes a disabled pool of ours', ({ spec, expected }) => {
  expect(draft(spec)).toEqual({ metadata: { name: 'lab' }, spec: { disable: true, ...expected } });
});

test('a gateway outside of the subnet is told as left out, and one inside is not', () => {
  const read = (gateway: string) => {
    const spec = { addresses: ['10.0.0.5'], prefix: 24, gateway };
    return readInClusterPool({ metadata: { name: 'lab' }, spec } as unknown as KubeObject, 'GlobalInClusterIPPool');
  };
  expect(read('192.0.2.1')).toMatchObject({ gateway: null, leftOutGateway: { family: 4, value: 0xc0000201n } });
  expect(read('10.0.0.1')).toMatchObject({ gateway: { family: 4, value: 0x0a000001n }, leftOutGateway: null });
});

test('a pool of a namespace serves that namespace alone, under a name that says so; a grace period becomes a cooldown', () => {
  const spec = { addresses: ['10.0.0.5'], prefix: 24, addressReuseGracePeriodSeconds: 60 };
  expect(draft(spec, 'prod')).toMatchObject({
    metadata: { name: 'prod.lab', annotations: { 'ipledger.io/reuse-cooldown': '60s' } },
    spec: { namespaceName: ['prod'] },
  });
});

test.each([
  { name: 'no addresses', spec: { prefix: 24 }, says: /no addresses or no prefix/ },
  { name: 'no prefix', spec: { addresses: ['10.0.0.5'] }, says: /no addresses or no prefix/ },
  { name: 'two families', spec: { addresses: ['10.0.0.5', 'fd00::5'], prefix: 24 }, says: /mixes IPv4 and IPv6/ },
  { name: 'nonsense', spec: { addresses: ['localhost'], prefix: 24 }, says: /spec\.addresses\[0\]/ },
])('a pool with $name is refused', ({ spec, says }) => {
  expect(() => draft(spec)).toThrow(says);
});
