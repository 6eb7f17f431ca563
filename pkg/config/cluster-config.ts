/** The settings of `conf.yml`, for agents and controller. They have Spiderpool's names where Spiderpool has the setting. */
export interface ClusterConfig {
  readonly ipamUnixSocketPath: string;
  readonly enableIPv4: boolean;
  readonly enableIPv6: boolean;
  readonly enableStatefulSet: boolean;
  readonly enableKubevirtStaticIP: boolean;
  readonly enableSpiderSubnet: boolean;
  readonly enableAutoPoolForApplication: boolean;
  readonly clusterSubnetAutoPoolDefaultRedundantIPNumber: number;
  readonly enableCleanOutdatedEndpoint: boolean;
  readonly enableIPConflictDetection: boolean;
  readonly enableGatewayDetection: boolean;
  readonly enableValidatingResourcesDeletedWebhook: boolean;
  // Spiderpool does not have the settings below.
  readonly probeWindowMs: number;
  readonly probeCount: number;
  readonly quarantineSeconds: number;
  readonly onIPConflict: 'next' | 'block';
  readonly exhaustedWaitSeconds: number;
  /** 0: never. */
  readonly suspectReleaseMinutes: number;
}
