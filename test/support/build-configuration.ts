import type { ConfigurationFacts } from '#controller/provider-plan/judge-configuration.ts';
import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';
import { TAKEN_OVER_ANNOTATION } from '#pkg/vitistack/provider-names.ts';
import { type IpAllocation, readIpAllocation } from '#pkg/vitistack/read-ip-allocation.ts';
import { type NetworkConfiguration, readNetworkConfiguration } from '#pkg/vitistack/read-network-configuration.ts';
import { type NetworkNamespace, readNetworkNamespace } from '#pkg/vitistack/read-network-namespace.ts';
import { CONFIGURATION_FINALIZER, configurationOwner, MADE_ANNOTATION } from '#pkg/vitistack/vitistack-names.ts';

const CREATED = '2026-11-18T20:00:00Z';

/** What the API server would answer for an object of namespace `datacenter-01`. */
export function storedObject(name: string, fields: object, metadata: object = {}): KubeObject {
  const own = { namespace: 'datacenter-01', name, uid: `uid-of-${name}`, resourceVersion: '1', generation: 1 };
  return { metadata: { ...own, creationTimestamp: CREATED, ...metadata }, ...fields };
}

/** The NetworkNamespace of the published example. */
export function network(block: object | null = {}, more: object = {}): NetworkNamespace {
  const { name = 'prod-network', ...metadata } = more as { name?: string };
  const own = { ipv4CIDR: '10.0.2.0/24', ipv4Gateway: '10.0.2.1', vlanId: 100, dns: ['8.8.8.8'], ...block };
  const ipAllocation = block === null ? { type: 'dhcp' } : { type: 'static', static: own };
  return there(readNetworkNamespace(storedObject(name, { spec: { ipAllocation } }, metadata), { floor: 2 }));
}

interface ConfigurationWish {
  readonly spec?: object;
  readonly status?: object;
  readonly metadata?: object;
  /** By default it has our finalizer and annotation. */
  readonly isSigned?: boolean;
}

export function configuration(wish: ConfigurationWish = {}): NetworkConfiguration {
  const { spec = {}, status = {}, metadata = {}, isSigned = true } = wish;
  const networkInterfaces = [{ name: 'eth0', macAddress: '02:00:00:00:00:01' }];
  const fields = { spec: { name: 'web', networkNamespaceName: 'prod-network', networkInterfaces, ...spec }, status };
  const signed = { finalizers: [CONFIGURATION_FINALIZER], annotations: { [TAKEN_OVER_ANNOTATION]: 'false' } };
  return there(readNetworkConfiguration(storedObject('web', fields, { ...(isSigned ? signed : {}), ...metadata })));
}

/** The IPAllocation of that interface, as we make it; with a name of its own, as somebody else does. */
export function allocation(
  interfaceName: string,
  status: object = {},
  more: Record<string, unknown> = {},
): IpAllocation {
  const { name = interfaceName === '' ? 'web' : `web-${interfaceName}`, metadata = {}, spec = {} } = more;
  const own = { networkNamespaceName: 'prod-network', networkConfigurationName: 'web', interfaceName };
  const fields = { spec: { ...own, ...(spec as object) }, status };
  const made = {
    annotations: { [MADE_ANNOTATION]: 'web' },
    ownerReferences: [configurationOwner('web', 'uid-of-web')],
  };
  const ours = 'name' in more ? {} : made;
  return there(readIpAllocation(storedObject(String(name), fields, { ...ours, ...(metadata as object) })));
}

/** The status of an IPAllocation that has its address. */
export function allocated(address: string): object {
  const given = { gateway: '10.0.2.1', prefix: 24, vlanId: 100, dns: ['8.8.8.8'], expiresAt: '2026-11-18T21:00:00Z' };
  return { phase: 'Allocated', address, ...given };
}

export function factsOf(
  it: NetworkConfiguration,
  allocations: readonly IpAllocation[] = [],
  networkNamespaces: readonly NetworkNamespace[] = [network()],
): ConfigurationFacts {
  return { configuration: it, allocations, networkNamespaces };
}

function there<T>(read: T | null): T {
  if (read === null) throw new Error('the object of the test cannot be read');
  return read;
}
