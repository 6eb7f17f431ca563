import type { WantedStatus } from './allocation-status.ts';
import type { ObservedAllocation } from './observed-allocation.ts';

/** Why nothing is given out to this IPAllocation yet; null if something is. Pending is what time or its maker will end. */
export function objectToNetwork({ allocation, network, configuration, hold }: ObservedAllocation): WantedStatus | null {
  const { namespace, networkNamespace, networkConfiguration } = allocation;
  const named = `NetworkNamespace ${networkNamespace}`;
  if (network === null) return error(`${named} does not exist in namespace ${namespace}`);
  if (network.isDeleting) return error(`${named} is being deleted`);
  const { provisioningPhase, problem } = network;
  if (provisioningPhase !== null && provisioningPhase !== 'Ready') {
    return pending(`waits until ${named} is provisioned; it is ${provisioningPhase}`);
  }
  if (problem !== null) return error(`${named} gives out no addresses: ${problem}`);
  if (configuration === null)
    return pending(`waits for NetworkConfiguration ${networkConfiguration}, which does not exist`);
  if (configuration.isDeleting) return pending(`NetworkConfiguration ${networkConfiguration} is being deleted`);
  return hold === null ? null : pending(hold);
}

function error(message: string): WantedStatus {
  return { phase: 'Error', message };
}

function pending(message: string): WantedStatus {
  return { phase: 'Pending', message };
}
