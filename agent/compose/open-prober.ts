import type { Logger } from 'pino';
import type { ProbeSettings } from '#agent/allocate/address-probe.ts';
import { seesHostProcesses } from '#agent/node/netns-evidence.ts';
import { checkProbeCapabilities } from '#agent/probe/kernel/capabilities.ts';
import { Prober } from '#agent/probe/prober.ts';
import { IpamError } from '#pkg/errors/ipam-error.ts';

/** Opened at start wherever it can work: every address is announced, and a pool that is added later may ask for probes. */
export function openProber(
  { detectConflict, detectGateway }: ProbeSettings,
  starting: AsyncDisposableStack,
  log: Logger,
): Prober | null {
  const missing = checkProbeCapabilities();
  if (missing !== null && (detectConflict || detectGateway)) throw new IpamError('bad-config', missing);
  if (missing !== null) {
    log.warn({ why: missing }, 'no address can be probed or announced: pools that ask for probing are not served');
    return null;
  }
  return starting.use(new Prober({ seesProcesses: seesHostProcesses() }));
}
