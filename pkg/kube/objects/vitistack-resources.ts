import type { Resource } from './kube-object.ts';

const GROUP = 'vitistack.io';

export const IP_ALLOCATIONS: Resource = {
  group: GROUP,
  version: 'v1alpha2',
  plural: 'ipallocations',
  kind: 'IPAllocation',
};
export const NETWORK_NAMESPACES: Resource = {
  group: GROUP,
  version: 'v1alpha2',
  plural: 'networknamespaces',
  kind: 'NetworkNamespace',
};
/** Where only the older version is served. The fields that are read here are the same. */
export const OLD_NETWORK_NAMESPACES: Resource = { ...NETWORK_NAMESPACES, version: 'v1alpha1' };
export const NETWORK_CONFIGURATIONS: Resource = {
  group: GROUP,
  version: 'v1alpha1',
  plural: 'networkconfigurations',
  kind: 'NetworkConfiguration',
};
export const SHARED_IPS: Resource = {
  group: GROUP,
  version: 'v1alpha1',
  plural: 'controlplanevirtualsharedips',
  kind: 'ControlPlaneVirtualSharedIP',
};
