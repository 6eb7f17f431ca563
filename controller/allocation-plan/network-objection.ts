import { DOMAIN_ANNOTATION } from '#pkg/crd/decode-domain.ts';
import type { WantedStatus } from './allocation-status.ts';
import type { ObservedAllocation } from './observed-allocation.ts';

/** Why nothing is given out to this IPAllocation yet; null if something is. Pending is what time or its maker will end. */
export function objectToNetwork(seen: ObservedAllocation): WantedStatus | null {
  const { allocation, network, configuration, hold } = seen;
  const { namespace, networkNamespace, networkConfiguration } = allocation;
  const named = `NetworkNamespace ${networkNamespace}`;
  if (network === null) return error(`${named} does not exist in namespace ${namespace}`);
  if (network.isDeleting) return error(`${named} is being deleted`);
  const { provisioningPhase, problem } = network;
  if (provisioningPhase !== null && provisioningPhase !== 'Ready') {
    return pending(`waits until ${named} is provisioned; it is ${provisioningPhase}`);
  }
  if (problem !== null) return error(`${named} gives out no addresses: ${problem}`);
  const moved = objectToDomain(seen);
  if (moved !== null) return error(moved);
  if (configuration === null)
    return pending(`waits for NetworkConfiguration ${networkConfiguration}, which does not exist`);
  if (configuration.isDeleting) return pending(`NetworkConfiguration ${networkConfiguration} is being deleted`);
  return hold === null ? null : pending(hold);
}

/**
 * A domain is fixed once addresses are in use. In another one each of them would look free, and be given out a second time on the same
 * wire.
 */
export function objectToDomain({ network, facts, otherDomain }: ObservedAllocation): string | null {
  if (otherDomain === null) return null;
  const now = `NetworkNamespace ${network?.name} is in domain ${facts?.pool?.domain} now`;
  return `${now}, and addresses of it are in use in domain ${otherDomain}: nothing new is given out until the annotation ${DOMAIN_ANNOTATION} is as before, or these are given back`;
}

function error(message: string): WantedStatus {
  return { phase: 'Error', message };
}

function pending(message: string): WantedStatus {
  return { phase: 'Pending', message };
}
