import { expect, test } from 'vitest';
import { CONFIG_KEYS } from './config-keys.ts';
import { decodeClusterConfig } from './decode-cluster-config.ts';

test.each([{}, null, undefined])('nothing written is all defaults: %s', (value) => {
  const { config, warnings } = decodeClusterConfig(value);
  expect(config).toEqual(Object.fromEntries(Object.entries(CONFIG_KEYS).map(([key, { fallback }]) => [key, fallback])));
  expect(config).toMatchObject({ enableIPv4: true, enableIPv6: true, enableIPConflictDetection: false, probeCount: 3 });
  expect(warnings).toEqual([]);
});

test('what is written counts', () => {
  const written = { enableIPv6: false, enableGatewayDetection: true, probeWindowMs: 20, onIPConflict: 'block' };
  expect(decodeClusterConfig(written).config).toMatchObject(written);
});

test.each([
  { name: 'text for a switch', value: { enableIPv4: 'yes' }, says: 'enableIPv4: expected true or false, found "yes"' },
  {
    name: 'nothing for a switch',
    value: { enableIPv4: null },
    says: 'enableIPv4: expected true or false, found nothing',
  },
  {
    name: 'a window too short',
    value: { probeWindowMs: 19 },
    says: 'probeWindowMs: expected a whole number from 20 to 2000, found 19',
  },
  {
    name: 'half a probe',
    value: { probeCount: 1.5 },
    says: 'probeCount: expected a whole number from 1 to 10, found 1.5',
  },
  {
    name: 'Suspect addresses released too early',
    value: { suspectReleaseMinutes: 29 },
    says: 'suspectReleaseMinutes: expected a whole number from 30 to 10080, found 29',
  },
  {
    name: 'an unknown choice',
    value: { onIPConflict: 'wait' },
    says: 'onIPConflict: expected next or block, found "wait"',
  },
  {
    name: 'a relative socket',
    value: { ipamUnixSocketPath: 'a.sock' },
    says: 'ipamUnixSocketPath: expected the absolute path of a socket, found "a.sock"',
  },
  {
    name: 'a socket path too long',
    value: { ipamUnixSocketPath: `/${'x'.repeat(107)}` },
    says: 'longer than 107 characters',
  },
  { name: 'no family', value: { enableIPv4: false, enableIPv6: false }, says: 'both false' },
  { name: 'not a map', value: ['enableIPv4'], says: 'conf.yml: expected an object, found a list' },
])('a bad value refuses to start: $name', ({ value, says }) => {
  expect(() => decodeClusterConfig(value)).toThrow(
    expect.objectContaining({ reason: 'bad-config', message: expect.stringContaining(says) as string }),
  );
});

test('an unknown key is warned about with the name that was meant', () => {
  const { warnings } = decodeClusterConfig({ enableIpv4: false, 'no\nsuch': 1, toString: 1 });
  expect(warnings).toEqual([
    'unknown key "enableIpv4" is ignored; did you mean enableIPv4?',
    'unknown key "no\\nsuch" is ignored',
    'unknown key "toString" is ignored',
  ]);
});

test("the chart's spelling of the redundant number is read, and must agree with the other one", () => {
  const read = (value: object) => decodeClusterConfig(value).config.clusterSubnetAutoPoolDefaultRedundantIPNumber;
  expect(read({ clusterSubnetDefaultFlexibleIPNumber: 2 })).toBe(2);
  const both = { clusterSubnetDefaultFlexibleIPNumber: 2, clusterSubnetAutoPoolDefaultRedundantIPNumber: 2 };
  expect(read(both)).toBe(2);
  expect(() => read({ ...both, clusterSubnetDefaultFlexibleIPNumber: 3 })).toThrow('are the same setting and differ');
  expect(() => read({ clusterSubnetDefaultFlexibleIPNumber: -1 })).toThrow(
    'clusterSubnetDefaultFlexibleIPNumber: expected',
  );
});

test('keys of what we do not do are accepted, and told about only if they ask for something', () => {
  const off = {
    tuneSysctlConfig: false,
    podResourceInject: { enabled: false, namespacesExclude: ['kube-system'], namespacesInclude: [] },
    iaasNetworkProvider: { serverUrl: '', httpRequestTimeout: '30s' },
    agent: { networkResourcePlugin: { enabled: false, kubeletRootPath: '/var/lib/kubelet' } },
  };
  expect(decodeClusterConfig(off).warnings).toEqual([]);
  const on = {
    tuneSysctlConfig: true,
    podResourceInject: { enabled: true },
    iaasNetworkProvider: { serverUrl: 'https://iaas', timeout: 1 },
    agent: { networkResourcePlugin: { enabled: true } },
  };
  expect(decodeClusterConfig(on).warnings).toEqual([
    'tuneSysctlConfig asks for kernel settings of the node, which ipledger does not do; it is ignored',
    'podResourceInject.enabled asks for resources in pods, injected by a webhook, which ipledger does not do; it is ignored',
    'unknown key "iaasNetworkProvider.timeout" is ignored',
    "iaasNetworkProvider.serverUrl asks for a provider's API that is called for every address, which ipledger does not do; it is ignored",
    'agent.networkResourcePlugin asks for a device plugin, which ipledger does not do; it is ignored',
  ]);
});
