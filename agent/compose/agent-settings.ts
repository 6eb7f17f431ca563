import type { ProbeSettings } from '#agent/allocate/address-probe.ts';
import type { PlanOptions } from '#agent/allocate/plan.ts';
import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import type { AgentEnv } from './agent-env.ts';

/** The settings for probing, from the settings of the cluster. */
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

/** The settings that select candidate pools. */
export function planOptionsOf(config: ClusterConfig, env: Pick<AgentEnv, 'multusNamespace'>): PlanOptions {
  const { enableIPv4, enableIPv6, enableSpiderSubnet, enableAutoPoolForApplication } = config;
  return {
    enableIPv4,
    enableIPv6,
    enableSubnets: enableSpiderSubnet,
    enableAutoPools: enableAutoPoolForApplication,
    multusNamespace: env.multusNamespace,
  };
}
