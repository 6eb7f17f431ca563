import { spoolFileName } from '#pkg/agentapi/decode-args.ts';
import { type AddArgs, type AddResponse, CLIENT_HEADER, type DelArgs, PATHS } from '#pkg/agentapi/wire.ts';
import { spool } from '#plugin/node/node-spool.ts';
import { callSocket } from '#test/support/socket-call.ts';

const ADD_TIMEOUT_MS = 30_000;
const DEL_TIMEOUT_MS = 10_000;
const MAX_SPOOL_FILES = 10_000;

/** Calls the agent of a node as the plugin does, without a process for each call. */
export interface AgentPlace {
  readonly socket: string;
  readonly spoolDirectory: string;
}

/** The address, or null if the ADD failed for any reason. */
export async function addBySocket({ socket }: AgentPlace, args: AddArgs): Promise<string | null> {
  try {
    const { status, text } = await ask(socket, 'POST', args, ADD_TIMEOUT_MS);
    if (status !== 200) return null;
    const { ips } = JSON.parse(text) as AddResponse;
    return ips.find(({ nic }) => nic === args.ifName)?.address.split('/')[0] ?? null;
  } catch {
    return null;
  }
}

/** If the agent does not answer, the DEL is spooled by the code of the plugin. */
export async function delBySocket({ socket, spoolDirectory }: AgentPlace, args: DelArgs): Promise<void> {
  try {
    await ask(socket, 'DELETE', args, DEL_TIMEOUT_MS);
  } catch {
    spool(spoolDirectory, spoolFileName(args), `${JSON.stringify({ version: 1, del: args })}\n`, MAX_SPOOL_FILES);
  }
}

function ask(socket: string, method: 'POST' | 'DELETE', body: object, timeoutMs: number) {
  const headers = { [CLIENT_HEADER]: 'chaos' };
  return callSocket(socket, { method, path: PATHS.ip, body: JSON.stringify(body), headers, timeoutMs });
}
