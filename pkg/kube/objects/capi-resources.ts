import type { Resource } from './kube-object.ts';

const IPAM = { group: 'ipam.cluster.x-k8s.io', version: 'v1beta2' };

export const CLAIMS: Resource = { ...IPAM, plural: 'ipaddressclaims', kind: 'IPAddressClaim' };
export const IP_ADDRESSES: Resource = { ...IPAM, plural: 'ipaddresses', kind: 'IPAddress' };
export const CLUSTERS: Resource = {
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  plural: 'clusters',
  kind: 'Cluster',
};

/** The pools of the in-cluster IPAM provider; they share the group with the contract. */
const IN_CLUSTER = { group: IPAM.group, version: 'v1alpha2' };

export const IN_CLUSTER_POOLS: Resource = { ...IN_CLUSTER, plural: 'inclusterippools', kind: 'InClusterIPPool' };
export const GLOBAL_IN_CLUSTER_POOLS: Resource = {
  ...IN_CLUSTER,
  plural: 'globalinclusterippools',
  kind: 'GlobalInClusterIPPool',
};
