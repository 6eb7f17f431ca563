import { request } from 'node:http';
import { spoolFileName } from '#pkg/agentapi/spooled-del.ts';
import { type AddArgs, type AddResponse, CLIENT_HEADER, type DelArgs, PATHS } from '#pkg/agentapi/wire.ts';
import { spool } from '#plugin/node-spool.ts';

const ADD_TIMEOUT_MS = 30_000;
const DEL_TIMEOUT_MS = 10_000;
const MAX_SPOOL_FILES = 10_000;

/** How a runtime reaches the agent of its node: what the plugin does, without a process for each call. */
export interface AgentPlace {
  readonly socket: string;
  readonly spoolDirectory: string;
}

/** The address, or null where the ADD failed for whatever reason. */
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

/** An agent that does not answer: the DEL is spooled, by the plugin's own hand. */
export async function delBySocket({ socket, spoolDirectory }: AgentPlace, args: DelArgs): Promise<void> {
  try {
    await ask(socket, 'DELETE', args, DEL_TIMEOUT_MS);
  } catch {
    spool(spoolDirectory, spoolFileName(args), `${JSON.stringify({ version: 1, del: args })}\n`, MAX_SPOOL_FILES);
  }
}

function ask(socketPath: string, method: string, body: object, timeoutMs: number) {
  const content = JSON.stringify(body);
  const headers = { [CLIENT_HEADER]: 'chaos', 'content-length': Buffer.byteLength(content) };
  const signal = AbortSignal.timeout(timeoutMs);
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const call = request({ socketPath, path: PATHS.ip, method, headers, agent: false, signal }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    call.on('error', reject);
    call.end(content);
  });
}
