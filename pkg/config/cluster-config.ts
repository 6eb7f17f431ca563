/** What `conf.yml` decides, for the agents and the controller of a cluster alike. Names are Spiderpool's where it has one. */
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
  /** Ours from here on. */
  readonly probeWindowMs: number;
  readonly probeCount: number;
  readonly quarantineSeconds: number;
  readonly onIPConflict: 'next' | 'block';
  readonly exhaustedWaitSeconds: number;
}
