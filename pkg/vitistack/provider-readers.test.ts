import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { readNetworkConfiguration } from './read-network-configuration.ts';
import { readSharedIp } from './read-shared-ip.ts';

const META = { namespace: 'datacenter-01', name: 'web', uid: 'u', resourceVersion: '7' };
const object = (spec: unknown, status?: unknown, metadata = {}) =>
  ({ metadata: { ...META, ...metadata }, spec, status }) as unknown as KubeObject;

test('a NetworkConfiguration is read with what it asks for and what it was told', () => {
  const spec = {
    name: 'web',
    provider: ' Static-IP-Operator ',
    networkNamespaceName: ' prod-network',
    networkInterfaces: [
      { name: 'eth0', macAddress: '02:00:00:00:00:01', vlan: '100', ipv6Addresses: ['fd00::1'] },
      'x',
    ],
  };
  const status = { networkInterfaces: [{ name: 'eth0', ipv4Addresses: ['10.0.2.50', 7], allocationMethod: 'dhcp' }] };
  expect(readNetworkConfiguration(object(spec, status))).toMatchObject({
    provider: 'static-ip-operator',
    networkNamespace: 'prod-network',
    isTakenOver: null,
    interfaces: [{ name: 'eth0', macAddress: '02:00:00:00:00:01', vlan: '100' }],
    shown: [{ name: 'eth0', macAddress: '', addresses: ['10.0.2.50'], isStatic: false }],
  });
});

test.each([
  { name: 'no cluster', spec: { networkNamespaceIdentifier: 'prod' } },
  { name: 'no network', spec: { clusterIdentifier: 'blue' } },
  { name: 'a network of spaces', spec: { clusterIdentifier: 'blue', networkNamespaceIdentifier: '  ' } },
])('a virtual IP that names $name cannot be read', ({ spec }) => {
  expect(readSharedIp(object(spec))).toBeNull();
});

test('whatever is stored, reading it does not throw and stays bounded', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (spec, status) => {
      readNetworkConfiguration(object(spec, status));
      readSharedIp(object(spec, status));
    }),
  );
  const many = { networkInterfaces: Array.from({ length: 10_000 }, (_, at) => ({ name: `eth${at}` })) };
  expect(readNetworkConfiguration(object(many, many))?.interfaces).toHaveLength(65);
});
