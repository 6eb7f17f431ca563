import { type CheckArgs, PATHS } from '#pkg/agentapi/wire.ts';
import type { CheckRequest } from '#pkg/cni/request.ts';
import { askAgent } from './agent-client.ts';
import type { PluginCall } from './call.ts';

export async function check(request: CheckRequest, call: PluginCall): Promise<null> {
  const { containerID, ifName, netns, pod, network, addresses } = request;
  const args: CheckArgs = {
    containerID,
    ifName,
    podNamespace: pod.namespace,
    podName: pod.name,
    podUID: pod.uid,
    netNamespace: netns,
    ips: addresses,
    ...(network === undefined ? {} : { network }),
  };
  await askAgent(call, { method: 'POST', path: PATHS.check, args });
  return null;
}
