import type { AddArgs } from '#pkg/agentapi/wire.ts';
import type { PoolRequest } from '#pkg/pool/request.ts';

/** The part of a holder that the CNI call names, with or without Kubernetes. */
export function attachmentIn({ ifName, network, containerID }: AddArgs) {
  return { interface: ifName, ...(network === undefined ? {} : { network }), containerID };
}

/** What the network configuration of the call asks for. */
export function cniConfigIn(args: AddArgs): PoolRequest['cniConfig'] {
  return {
    ipv4: args.defaultIPv4IPPool ?? [],
    ipv6: args.defaultIPv6IPPool ?? [],
    cleanGateway: args.cleanGateway ?? false,
    matchMasterSubnet: args.matchMasterSubnet ?? false,
  };
}
