import type { ProbeSettings } from '#agent/allocate/address-probe.ts';
import type { PlanOptions } from '#agent/allocate/plan.ts';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import type { AgentEnv } from './agent-env.ts';

/** What the settings of a cluster mean for probing. */
export function probeSettingsOf(config: ClusterConfig): ProbeSettings {
  return {
    detectConflict: config.enableIPConflictDetection,
    detectGateway: config.enableGatewayDetection,
    windowMs: config.probeWindowMs,
    count: config.probeCount,
    quarantineMs: config.quarantineSeconds * 1000,
    onConflict: config.onIPConflict,
  };
}

/**
 * And for which pools are candidates. With subnets on and auto pools off a pod that names a subnet must be refused, not
 * served from elsewhere: so the second switch does not count here.
 */
export function planOptionsOf(config: ClusterConfig, env: Pick<AgentEnv, 'multusNamespace'>): PlanOptions {
  const { enableIPv4, enableIPv6, enableSpiderSubnet: enableSubnets } = config;
  return { enableIPv4, enableIPv6, enableSubnets, multusNamespace: env.multusNamespace };
}
