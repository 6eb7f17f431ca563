import { parseAddress } from '#pkg/ip/address.ts';
import { parseCidr } from '#pkg/ip/cidr.ts';
import { IntervalSet } from '#pkg/ip/interval-set.ts';
import { parseRange } from '#pkg/ip/range.ts';
import type { Pool } from '#pkg/pool/pool.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';

/** Addresses are given as text; all other fields are those of `Pool`. */
export interface PoolOverrides extends Partial<Omit<Pool, 'subnet' | 'addresses' | 'gateway' | 'family'>> {
  readonly subnet?: string;
  /** Ranges as in `spec.ips`; without them the whole subnet. */
  readonly ips?: readonly string[];
  readonly gateway?: string | null;
}

/** Without overrides: an IPv4 pool that serves every pod. The family is that of the subnet. */
export function buildPool({ subnet, ips, gateway, ...others }: PoolOverrides = {}): Pool {
  const cidr = parseCidr(subnet ?? '10.0.0.0/24');
  const name = others.name ?? 'pool-a';
  return {
    name,
    uid: `uid-of-${name}`,
    family: cidr.family,
    subnet: cidr,
    addresses: IntervalSet.of(ips === undefined ? [cidr] : ips.map(parseRange)),
    gateway: gateway === undefined || gateway === null ? null : parseAddress(gateway),
    routes: [],
    podAffinity: null,
    namespaceAffinity: null,
    namespaceNames: [],
    nodeAffinity: null,
    nodeNames: [],
    multusNames: [],
    auto: null,
    isDefault: false,
    isDisabled: false,
    isTerminating: false,
    domain: 'default',
    reuseCooldownSeconds: 0,
    detectConflict: null,
    detectGateway: null,
    hasProxyArp: false,
    ...others,
  };
}

type RequestPart = 'node' | 'namespace' | 'pod' | 'cniConfig';

/** Nested objects may be partial. */
export type RequestOverrides = Partial<Omit<PoolRequest, RequestPart>> & {
  readonly [K in RequestPart]?: Partial<PoolRequest[K]>;
};

/** Without overrides: `eth0` of a bare pod in namespace `prod` on `worker-1`, without a named pool. */
export function buildRequest({ node, namespace, pod, cniConfig, ...others }: RequestOverrides = {}): PoolRequest {
  return {
    interface: 'eth0',
    interfaceIndex: 0,
    controller: null,
    multusName: null,
    ...others,
    node: { name: 'worker-1', labels: {}, ...node },
    namespace: { name: 'prod', labels: {}, annotations: {}, ...namespace },
    pod: { labels: {}, annotations: {}, ...pod },
    cniConfig: { ipv4: [], ipv6: [], cleanGateway: false, matchMasterSubnet: false, ...cniConfig },
  };
}
