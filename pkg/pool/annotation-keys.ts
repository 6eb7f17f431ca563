export const POD_ANNOTATIONS = {
  subnets: 'ipam.spidernet.io/subnets',
  subnet: 'ipam.spidernet.io/subnet',
  ippools: 'ipam.spidernet.io/ippools',
  ippool: 'ipam.spidernet.io/ippool',
  routes: 'ipam.spidernet.io/routes',
  ipNumber: 'ipam.spidernet.io/ippool-ip-number',
  reclaim: 'ipam.spidernet.io/ippool-reclaim',
} as const;

/** What an application that asks for a subnet writes into its pod template. */
export const SUBNET_ANNOTATIONS: readonly string[] = [
  POD_ANNOTATIONS.subnets,
  POD_ANNOTATIONS.subnet,
  POD_ANNOTATIONS.ipNumber,
  POD_ANNOTATIONS.reclaim,
];

/** Per family, the spelling that wins first: the second is that of an older page of Spiderpool. */
export const NAMESPACE_ANNOTATIONS = {
  v4: ['ipam.spidernet.io/default-ipv4-ippool', 'ipam.spidernet.io/defaultv4ippool'],
  v6: ['ipam.spidernet.io/default-ipv6-ippool', 'ipam.spidernet.io/defaultv6ippool'],
} as const;

export const MULTUS_ANNOTATIONS = {
  defaultNetwork: 'v1.multus-cni.io/default-network',
  networks: 'k8s.v1.cni.cncf.io/networks',
} as const;
