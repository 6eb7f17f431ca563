import { PATHS } from '#pkg/agentapi/wire.ts';
import type { StatusRequest } from '#pkg/cni/request.ts';
import { IpamError, toIpamError } from '#pkg/errors/ipam-error.ts';
import { askAgent, isUnserved } from './agent-client.ts';
import type { PluginCall } from './call.ts';

/** CNI's code 50 ("cannot serve ADD now") is for an agent that is away as well as for one that says so itself. */
export async function status(_request: StatusRequest, call: PluginCall): Promise<null> {
  try {
    await askAgent(call, { method: 'GET', path: PATHS.status, args: null });
    return null;
  } catch (thrown) {
    const error = toIpamError(thrown);
    if (!isUnserved(error)) throw error;
    throw new IpamError('not-ready', error.message, { details: error.details, cause: error });
  }
}
