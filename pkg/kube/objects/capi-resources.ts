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
