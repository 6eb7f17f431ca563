import type { KubeObject } from '#pkg/kube/objects/kube-object.ts';

interface NamespaceParts {
  readonly metadata?: object;
  readonly allocation?: object;
  readonly block?: object;
  readonly status?: object;
}

/** The NetworkNamespace of the published examples: 10.0.2.0/24, gateway .1, VLAN 100. */
export function buildNetworkNamespace({ metadata, allocation, block, status }: NamespaceParts = {}): KubeObject {
  return {
    metadata: {
      namespace: 'datacenter-01',
      name: 'prod-network',
      uid: 'uid-of-prod-network',
      resourceVersion: '5',
      generation: 1,
      creationTimestamp: '2026-05-19T08:00:00Z',
      ...metadata,
    },
    spec: { ipAllocation: { type: 'static', static: { ...STATIC_BLOCK, ...block }, ...allocation } },
    status: { provisioningPhase: 'Ready', ...status },
  };
}

const STATIC_BLOCK = {
  ipv4CIDR: '10.0.2.0/24',
  ipv4Gateway: '10.0.2.1',
  vlanId: 100,
  dns: ['8.8.8.8', '8.8.4.4'],
  ttlSeconds: 3_600,
};
