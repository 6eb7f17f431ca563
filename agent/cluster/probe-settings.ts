import type { ClusterConfig } from '#pkg/config/cluster-config.ts';
import type { ProbeSettings } from '../allocate/address-probe.ts';

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
