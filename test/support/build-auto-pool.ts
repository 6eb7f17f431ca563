import { autoPoolLabels } from '#pkg/autopool/identity.ts';
import { decodePool } from '#pkg/crd/decode-pool.ts';
import { parseCidr } from '#pkg/ip/cidr.ts';
import { type AutoPoolKey, applicationAffinity } from '#pkg/pool/auto-pool.ts';
import type { Pool } from '#pkg/pool/pool.ts';

export const WEB = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: 'prod',
  name: 'web',
  uid: '6f3a1c52-0d7e-4b53-9a53-1f2e3d4c5b6a',
};

export function autoKey(overrides: Partial<AutoPoolKey> = {}): AutoPoolKey {
  return { subnet: 'office', application: WEB, interface: 'eth0', family: 4, ...overrides };
}

/** An auto pool as it comes back from the API server. */
export function buildAutoPool(
  key: AutoPoolKey,
  more: { readonly name?: string; readonly ips?: readonly string[]; readonly reclaim?: boolean } = {},
): Pool {
  const subnet = key.family === 4 ? '10.0.0.0/24' : 'fd00::/64';
  return decodePool({
    apiVersion: 'spiderpool.spidernet.io/v2beta1',
    kind: 'SpiderIPPool',
    metadata: {
      name: more.name ?? 'auto',
      uid: 'uid-of-pool',
      labels: autoPoolLabels(key, { reclaim: more.reclaim ?? true, cidr: parseCidr(subnet) }),
    },
    spec: { subnet, ips: more.ips ?? [], podAffinity: { matchLabels: applicationAffinity(key.application) } },
  });
}
