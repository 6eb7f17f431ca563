import type { Logger } from 'pino';
import { IpamError } from '#pkg/errors/ipam-error.ts';
import type { ProbeSettings } from './allocate/address-probe.ts';
import { seesHostProcesses } from './host-processes.ts';
import { checkProbeCapabilities } from './probe/capabilities.ts';
import type { AnnounceTarget } from './probe/probe-target.ts';
import { Prober } from './probe/prober.ts';

/** A pool may ask for probing later, so the prober is made at boot wherever it can work. */
export function openProber(
  { detectConflict, detectGateway }: ProbeSettings,
  starting: AsyncDisposableStack,
  log: Logger,
): Prober | null {
  const missing = checkProbeCapabilities();
  if (missing !== null && (detectConflict || detectGateway)) throw new IpamError('bad-config', missing);
  if (missing !== null) {
    log.warn({ why: missing }, 'no address can be probed: pools that ask for it are not served');
    return null;
  }
  const onAnnounceFailure = ({ interface: name }: AnnounceTarget, why: string) =>
    log.warn({ interface: name, why }, 'address not announced');
  return starting.use(new Prober({ onAnnounceFailure, seesProcesses: seesHostProcesses() }));
}
