import { decodeAddResponse } from '#pkg/agentapi/decode-answers.ts';
import { type AddArgs, PATHS } from '#pkg/agentapi/wire.ts';
import type { AddRequest } from '#pkg/cni/request.ts';
import { type AddResult, toAddResult } from '#pkg/cni/result.ts';
import { askAgent, decodeAnswerBody } from './agent-client.ts';
import type { PluginCall } from './call.ts';

/** An ADD whose answer was lost is not sent again: the runtime follows with DEL and tries anew. */
export async function add(request: AddRequest, call: PluginCall): Promise<AddResult> {
  const answer = await askAgent(call, { method: 'POST', path: PATHS.ip, args: toAddArgs(request) });
  return toAddResult(request.cniVersion, request.ifName, decodeAnswerBody(answer, decodeAddResponse));
}

function toAddArgs(request: AddRequest): AddArgs {
  const { pod, ipam, requestedIPs } = request;
  return {
    containerID: request.containerID,
    ifName: request.ifName,
    netNamespace: request.netns,
    podNamespace: pod.namespace,
    podName: pod.name,
    podUID: pod.uid,
    ...(ipam.ipv4Pools.length > 0 ? { defaultIPv4IPPool: ipam.ipv4Pools } : {}),
    ...(ipam.ipv6Pools.length > 0 ? { defaultIPv6IPPool: ipam.ipv6Pools } : {}),
    cleanGateway: ipam.cleanGateway,
    matchMasterSubnet: ipam.matchMasterSubnet,
    ...(requestedIPs.length > 0 ? { requestedIPs } : {}),
    network: request.network,
    ...(ipam.warnings.length > 0 ? { warnings: ipam.warnings } : {}),
  };
}
