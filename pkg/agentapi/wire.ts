/** The bodies that cross the agent's socket. Names and optionality are Spiderpool's; what is ours is marked. */

export const PATHS = {
  healthy: '/v1/ipam/healthy',
  ip: '/v1/ipam/ip',
  ips: '/v1/ipam/ips',
  workloadEndpoint: '/v1/workloadendpoint',
  check: '/v1/ipam/check',
  gc: '/v1/ipam/gc',
  status: '/v1/ipam/status',
} as const;

/** Sent by our own plugin. With it an error is an ErrorBody; without it a JSON string, as Spiderpool's plugin expects. */
export const CLIENT_HEADER = 'x-ipledger-client';

/** What every call of our own plugin may add (ours). */
export interface CallExtras {
  /** CNI network name. */
  readonly network?: string;
  /** How long the plugin will still wait for the answer. */
  readonly timeoutMs?: number;
  /** How long ago the call began: the plugin may have waited for the agent. */
  readonly ageMs?: number;
  /** Keys of the network configuration that were ignored, for the agent's log. */
  readonly warnings?: readonly string[];
}

export interface AddArgs extends CallExtras {
  readonly containerID: string;
  readonly ifName: string;
  readonly netNamespace: string;
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUID: string;
  readonly defaultIPv4IPPool?: readonly string[];
  readonly defaultIPv6IPPool?: readonly string[];
  readonly cleanGateway?: boolean;
  readonly matchMasterSubnet?: boolean;
  /** Ours: addresses asked for by `runtimeConfig.ips`, `args.cni.ips` or `CNI_ARGS IP=`, with or without a prefix length. */
  readonly requestedIPs?: readonly string[];
}

export interface DelArgs extends CallExtras {
  readonly containerID: string;
  readonly ifName: string;
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUID: string;
  readonly netNamespace?: string;
}

export interface BatchDelArgs {
  readonly containerID: string;
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUID: string;
  readonly netNamespace?: string;
  readonly isReleaseConflictIPs?: boolean;
}

export interface IpConfig {
  readonly version: 4 | 6;
  /** With prefix length. */
  readonly address: string;
  readonly nic: string;
  readonly ipPool: string;
  readonly gateway?: string;
  readonly vlan?: number;
  readonly mac?: string;
  readonly enableGatewayDetection?: boolean;
  readonly enableIPConflictDetection?: boolean;
}

export interface WireRoute {
  readonly ifName: string;
  readonly dst: string;
  readonly gw: string;
}

export interface WireDns {
  readonly domain?: string;
  readonly nameservers?: readonly string[];
  readonly search?: readonly string[];
  readonly options?: readonly string[];
}

/** Carries all interfaces recorded for the holder; the plugin keeps its own. */
export interface AddResponse {
  readonly ips: readonly IpConfig[];
  readonly routes?: readonly WireRoute[];
  readonly dns?: WireDns;
}

/** Ours: CHECK. `ips` are the addresses (with prefix length) that prevResult shows for this interface. */
export interface CheckArgs extends CallExtras {
  readonly containerID: string;
  readonly ifName: string;
  readonly podNamespace: string;
  readonly podName: string;
  readonly podUID: string;
  readonly netNamespace?: string;
  readonly ips: readonly { readonly address: string; readonly gateway?: string }[];
}

/** Ours: GC. */
export interface GcArgs extends CallExtras {
  readonly network: string;
  readonly validAttachments: readonly { readonly containerID: string; readonly ifName: string }[];
}

export interface GcResponse {
  readonly released: number;
}

/** Ours: an error for a client that sent CLIENT_HEADER. */
export interface ErrorBody {
  readonly reason: string;
  readonly message: string;
  readonly details: string;
}

/** Ours: one spooled DEL, the content of one file in the spool directory. */
export interface SpooledDel {
  readonly version: 1;
  readonly del: DelArgs;
}
