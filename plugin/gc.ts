import { decodeGcResponse } from '#pkg/agentapi/decode-answers.ts';
import { type GcArgs, PATHS } from '#pkg/agentapi/wire.ts';
import type { GcRequest } from '#pkg/cni/request.ts';
import { askAgent, decodeAnswerBody } from './agent-client.ts';
import type { PluginCall } from './call.ts';

export async function gc({ network, validAttachments }: GcRequest, call: PluginCall): Promise<null> {
  const args: GcArgs = { network, validAttachments };
  const answer = await askAgent(call, { method: 'POST', path: PATHS.gc, args });
  decodeAnswerBody(answer, decodeGcResponse);
  return null;
}
